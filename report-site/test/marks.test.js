// Releases, other environments and other tools are marked on a trend: at their runs, accessibly, without clutter.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { browsing, unfold, visit } from './browser.js';
import { marksOf } from './pages.js';
import { small } from './sites.js';

const ADDRESS = pathToFileURL(join(small, 'index.html')).href;

const web = browsing();

const labelOf = (mark) => (mark.kind === 'release' ? mark.name : mark.kind);
const timeOf = (seconds) => new Date(seconds * 1e3).toISOString().slice(0, 16).replace('T', ' ');

/** What the keyboard's cursor shows from mark to mark. */
async function walk(page) {
  await page.locator('.canvas').focus();
  await page.keyboard.press('Home');
  const said = [await page.locator('[aria-live]').innerText()];
  for (;;) {
    await page.keyboard.press('Shift+ArrowRight');
    const next = await page.locator('[aria-live]').innerText();
    if (next === said.at(-1)) return said;
    said.push(next);
  }
}

test('the data have marks of every kind', async () => {
  const { page, close } = await web.open(ADDRESS);
  const { marks } = await marksOf(page);
  assert.deepEqual([...new Set(marks.map((mark) => mark.kind))].sort(), [
    'environment',
    'harness',
    'release',
    'versions',
  ]);
  await close();
});

for (const x of ['run', 'time']) {
  test(`the keyboard goes from mark to mark, and each is at its run, along ${x}`, async () => {
    const { page, close } = await web.open(`${ADDRESS}#/trend?s=go&x=${x}`);
    const { marks, runs } = await marksOf(page);
    const said = (await walk(page)).filter((text) => text.includes(' | '));
    const wanted = [...new Set(marks.map((mark) => mark.at))];
    assert.equal(said.length, wanted.length);
    wanted.forEach((at, number) => {
      assert.ok(said[number].includes(` | ${timeOf(runs.times[at])}`), said[number]);
      for (const mark of marks.filter((each) => each.at === at && each.kind === 'release')) {
        assert.ok(said[number].includes(`Release ${mark.name}`), said[number]);
      }
    });
    await close();
  });

  test(`a badge stands above the point of its run, along ${x}`, async () => {
    const { page, close } = await web.open(`${ADDRESS}#/trend?s=go&x=${x}`);
    const { marks, runs } = await marksOf(page);
    let compared = 0;
    for (const badge of await page.locator('.badges button').all()) {
      const label = await badge.innerText();
      const [mark, ...others] = marks.filter((each) => labelOf(each) === label);
      if (!mark || others.length) continue;
      await badge.hover();
      const [box, cursor] = [await badge.boundingBox(), await page.locator('.u-cursor-x').boundingBox()];
      const whole = await page.locator('.canvas').boundingBox();
      const expected = Math.min(cursor.x, whole.x + whole.width - box.width / 2);
      assert.ok(Math.abs(box.x + box.width / 2 - expected) < 2, `${label} is at ${box.x}, its run at ${cursor.x}`);
      assert.match(await page.locator('.readout').innerText(), new RegExp(label.replaceAll('.', '\\.'), 'i'));
      await page.mouse.move(0, 0);
      await page.locator('.canvas').focus();
      await page.keyboard.press('Home');
      for (let step = 0; step < mark.at; step++) await page.keyboard.press('ArrowRight');
      const said = await page.locator('.readout').innerText();
      assert.ok(said.startsWith(label) || said.includes(`, ${label}`), said);
      assert.ok(said.includes(timeOf(runs.times[mark.at])), said);
      compared++;
    }
    assert.ok(compared >= 3, `only ${compared} badges stand for one mark`);
    await close();
  });
}

test('a range has the marks of its runs only, and a badge of several takes a closer look at them', async () => {
  const { page, close } = await web.open(`${ADDRESS}#/trend?s=go&range=10-30`);
  const { marks, runs } = await marksOf(page);
  const inside = marks.filter((mark) => mark.at >= 10 && mark.at <= 30);
  assert.ok(inside.length >= 3);
  const said = (await walk(page)).filter((text) => text.includes(' | '));
  assert.deepEqual(
    said.map((text) => /\| ([\d-]+ [\d:]+)/.exec(text)[1]),
    [...new Set(inside.map((mark) => timeOf(runs.times[mark.at])))],
  );
  await visit(page, '#/trend?s=go');
  const before = await page.locator('.badges li').count();
  await page
    .getByRole('button', { name: /^3 releases/ })
    .first()
    .click();
  await page.waitForFunction(() => location.hash.includes('range='));
  await page.getByRole('button', { name: /^v1\.2\.0/ }).waitFor();
  assert.ok(before > 1);
  await close();
});

test('marks are in the list, in the table with its exports, and pinned', async () => {
  const { page, close } = await web.open(`${ADDRESS}#/trend?s=go`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const { marks, runs, older } = await marksOf(page);
  await unfold(page);
  await unfold(page); // unfolds what the first call revealed
  const items = await page.locator('.changes li', { hasText: /Release|environment|harness|versions/ }).allInnerTexts();
  assert.equal(items.length, marks.length);
  await page.getByRole('button', { name: 'Copy as JSON' }).click();
  await page.getByText('JSON copied').waitFor();
  const rows = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  for (const mark of marks.filter((each) => each.kind === 'release')) {
    assert.deepEqual(
      rows.filter((row) => row.Marks.includes(`Release ${mark.name}`)).map((row) => row.Run),
      [runs.ids[mark.at]],
    );
  }
  const [changed] = marks.filter((mark) => mark.kind === 'environment');
  await visit(page, `#/trend?s=go&pin=${runs.ids[changed.at]}`);
  const pinned = page.getByLabel('Pinned run');
  const text = await pinned.innerText();
  assert.match(text, /Xeon.* \u2192 AMD EPYC.*; kernel 6\.1 \u2192 6\.18/);
  await pinned.getByRole('link', { name: 'the trend there' }).first().click();
  await page.waitForFunction((id) => location.hash.includes(encodeURIComponent(id)), older.id);
  await page.locator('.changes li', { hasText: 'Other environment after this run' }).waitFor({ state: 'attached' });
  await close();
});

test('what servers report is marked where few of them are shown', async () => {
  const { page, close } = await web.open(`${ADDRESS}#/trend`);
  const listed = async () => {
    await unfold(page);
    return (await page.locator('.changes').allInnerTexts()).join(' ');
  };
  const { newest } = await marksOf(page);
  assert.ok(newest.servers.length > 4);
  assert.doesNotMatch(await listed(), /reports other versions/);
  await visit(page, '#/trend?s=bun');
  assert.doesNotMatch(await listed(), /reports other versions/);
  assert.match(await listed(), /Other harness: k6 v1\.7\.0 \u2192 v1\.8\.1/);
  await visit(page, '#/trend?s=go&s=bun');
  assert.match(await listed(), /go reports other versions: runtime go1\.25\.4 \u2192 go1\.26\.0/);
  await close();
});

test('a saved picture has the marks: SVG', async () => {
  const { page, close } = await web.open(`${ADDRESS}#/trend?s=go`);
  const { marks } = await marksOf(page);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save SVG' }).click();
  const svg = readFileSync(await (await saved).path(), 'utf8');
  const points = /<path d="(M[^"]+)" fill="none"/
    .exec(svg)[1]
    .match(/[\d.]+ /g)
    .map(Number);
  const lines = [...svg.matchAll(/<path d="M([\d.]+) [\d.]+V/g)].map((found) => Number(found[1]));
  assert.deepEqual(
    lines,
    marks.map((mark) => points[mark.at]),
  );
  for (const label of ['v1.3.0', '3 releases']) assert.ok(svg.includes(`>${label}</text>`), label);
  await close();
});

for (const [colorScheme, runs] of [
  ['light', '0-74'],
  ['dark', '0-74'],
  ['dark', '0-16'], // there it stands on a line of the grid
]) {
  test(`a line goes through the chart where the environment changed: ${colorScheme}, ${runs}`, async () => {
    const { page, close } = await web.open(`${ADDRESS}#/trend?s=go&range=${runs}`, { colorScheme });
    const { marks } = await marksOf(page);
    const at = marks.filter((mark) => mark.kind === 'environment')[1].at;
    await page.locator('.canvas').focus();
    await page.keyboard.press('Home');
    for (let step = 0; step < at; step++) await page.keyboard.press('ArrowRight');
    const cursor = await page.locator('.u-cursor-x').boundingBox();
    const x = Math.round(cursor.x + cursor.width - (await page.locator('.canvas').boundingBox()).x);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save PNG' }).click();
    const png = readFileSync(await (await saved).path()).toString('base64');
    const share = await page.evaluate(
      async ({ near, content }) => {
        const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
        const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const drawn = document.querySelector('.canvas canvas');
        const muted = getComputedStyle(document.documentElement).getPropertyValue('--muted').trim();
        const wanted = [1, 3, 5].map((begin) => Number.parseInt(muted.slice(begin, begin + 2), 16));
        const isMuted = (data, at) => wanted.every((value, part) => Math.abs(data[at * 4 + part] - value) < 40);
        /** how many pixels of the line below the title belong to the upper edges of badges */
        const edges = (source) => {
          const copy = new OffscreenCanvas(source.width, 40).getContext('2d');
          copy.drawImage(source, 0, 0);
          const { data } = copy.getImageData(0, 34, source.width, 1);
          return Array.from({ length: source.width }, (_, at) => isMuted(data, at)).filter(Boolean).length;
        };
        const shareOf = (source, width, height) => {
          const copy = new OffscreenCanvas(width, height).getContext('2d');
          copy.drawImage(source, 0, 0);
          const columns = [-2, -1, 0, 1, 2].map((step) => {
            const { data } = copy.getImageData(near + step, 0, 1, height);
            let found = 0;
            for (let row = 0; row < height; row++) {
              if (isMuted(data, row)) found++;
            }
            return found / height;
          });
          return Math.max(...columns);
        };
        return {
          onPage: shareOf(drawn, drawn.width, drawn.height),
          inPicture: shareOf(picture, picture.width, picture.height),
          badges: edges(picture),
        };
      },
      { near: x, content: png },
    );
    assert.ok(share.onPage > 0.7, `${share.onPage} of the column is a line`);
    assert.ok(share.badges > 200, `${share.badges} pixels of badges`);
    assert.ok(share.inPicture > 0.5, `${share.inPicture} of the picture's column is a line`);
    await close();
  });
}

test('a file of marks that is missing has one sentence, and the trend is drawn without them', async () => {
  const site = mkdtempSync(join(tmpdir(), 'pushbench-'));
  cpSync(small, site, { recursive: true });
  const address = pathToFileURL(join(site, 'index.html')).href;
  const whole = await web.open(address);
  const { newest } = await marksOf(whole.page);
  await whole.close();
  const file = join(site, 'data', newest.id, 'marks.js');
  writeFileSync(file, readFileSync(file).subarray(0, 300));
  const { page, close } = await web.open(`${address}#/trend`);
  assert.match(
    (await page.locator('[role=alert]').allInnerTexts()).join('\n'),
    /^Releases .*marks\.js is incomplete\.$/,
  );
  assert.equal(await page.locator('.canvas canvas').count(), 1);
  assert.equal(await page.locator('.badges').count(), 0);
  await close();
  rmSync(site, { recursive: true });
});
