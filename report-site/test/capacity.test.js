// Capacities of servers: a ranking with ties and lower bounds, a part of each server's page, and a mark on load curves.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { browsing, serve, settled, visit } from './browser.js';
import { addresses, read } from './pages.js';
import { hostile, small } from './sites.js';

const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

const web = browsing(small);

async function found(page) {
  const { capacities } = await read(page, 'manifest');
  return (await read(page, capacities[0].id)).servers;
}

test('a chip ranks servers by what they carry, with intervals, ties and lower bounds', async () => {
  const { page, complaints, close } = await web.open();
  await page.locator('.ranking .choice').getByRole('link', { name: 'Capacity', exact: true }).click();
  await page.waitForTimeout(30);
  await settled(page);
  assert.match(page.url(), /rank=capacity/);
  assert.equal(await page.locator('#ranking').innerText(), 'Most clients within the limits');
  const rows = await page
    .locator('.ranking ol > li')
    .evaluateAll((all) =>
      all.map((each) =>
        ['.place', '.server a', '.value', '.times'].map((name) => each.querySelector(name).textContent),
      ),
    );
  const [, , , bound, gone, most] = Object.keys(await found(page)).sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
  assert.deepEqual(rows, [
    ['1', most, 'at least 9,000 clients', ''],
    ['2=', 'actix', '5,260 clients', '5,200 to 5,560'],
    ['2=', 'bun', '5,150 clients', '5,000 to 5,460'],
    ['4', 'fastapi', '900 clients', '900 to 950'],
  ]);
  const apart = await page.locator('.apart li').allInnerTexts();
  assert.match(apart[0], new RegExp(`${bound}: at least 600 clients; the generator ended here`));
  assert.match(apart[1], new RegExp(`${gone}: no number; failed to start: it is gone`));
  const bars = await page.locator('.bar > span').evaluateAll((all) => all.map((each) => each.clientWidth));
  assert.deepEqual(
    bars,
    [...bars].sort((a, b) => b - a),
  );
  await page.getByLabel('Language').selectOption('Python');
  await page.waitForTimeout(30);
  await settled(page);
  const names = await page.locator('.ranking ol .server a').allInnerTexts();
  assert.deepEqual(names, ['fastapi']);
  assert.deepEqual(complaints, []);
  await close();
});

/** of the site's servers, as they were searched */
const ORDER = [
  ...['actix', 'bun', 'fastapi', 'fastapi-workers-redis'],
  ...['fastapi-workers-redis/channel-per-board', 'go'],
];

test('a combination of another environment has no such chip', async () => {
  const { page, close } = await web.open();
  const { combinations, capacities } = await read(page, 'manifest');
  const older = combinations.find((each) => each.environment !== capacities[0].environment);
  await visit(page, `#/?${new URLSearchParams({ c: older.id, rank: 'capacity' })}`);
  assert.equal(await page.locator('.ranking .choice').getByRole('link', { name: 'Capacity' }).count(), 0);
  assert.match(await page.locator('#ranking').innerText(), /^Best delivery p95/);
  await close();
});

test('a server says what it carries, what ended that, and what each load did', async () => {
  const { page, complaints, close } = await web.open('#/server/actix');
  const part = page.locator('section.capacity');
  const text = await part.innerText();
  for (const said of [
    '5,260 clients, 5,200 to 5,560, within the limits of the suite',
    'delivery p95 812 ms, limit 500 ms',
    'CPU: 1.90 of 2 cores used',
    '5,200, 5,400, 5,260',
  ]) {
    assert.ok(text.includes(said), `${said}: ${text}`);
  }
  const record = await part.getByRole('link', { name: /^the record/ }).getAttribute('href');
  assert.equal((await page.request.get(`${web.server.url}${record}`)).status(), 200);
  const { points } = (await found(page)).actix;
  const chart = part.locator('figure.chart').first();
  await chart.locator('details.data').evaluate((each) => {
    each.open = true;
  });
  await chart.locator('tbody tr').first().waitFor();
  const rows = await chart
    .locator('tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.children].map((each) => each.innerText)));
  assert.deepEqual(
    rows.map(([load, answer]) => [load, answer]).reverse(),
    points.map(({ load, carried }) => [load.toLocaleString('en-US'), carried ? 'carried' : 'not carried']),
  );
  await part.getByRole('link', { name: 'all servers' }).click();
  await page.locator('.capacity.ranking').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('what a server carries is marked on its load curves, and only where the load was the same', async () => {
  const { page, close } = await web.open();
  const { run } = await addresses(page);
  await page.evaluate(() => {
    const { fillText } = CanvasRenderingContext2D.prototype;
    window.written = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
      window.written.push(text);
      fillText.call(this, text, ...where);
    };
  });
  const marks = async (hash, ...wanted) => {
    await page.evaluate(() => {
      window.written.length = 0;
    });
    await visit(page, hash);
    await page.waitForFunction((texts) => texts.every((text) => window.written.includes(text)), wanted);
  };
  await marks(`${run}?server=actix`, 'carries 5,260');
  await marks('#/server/go', 'carries \u2265 9,000');
  await close();
  const other = await web.open('#/nowhere');
  await other.page.route('**/manifest.js*', async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/("searched":"clients","parameters":\{"board_size":)10/, '$1100');
    await route.fulfill({ response, body });
  });
  await other.page.addInitScript(() => {
    const { fillText } = CanvasRenderingContext2D.prototype;
    window.written = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
      window.written.push(text);
      fillText.call(this, text, ...where);
    };
  });
  await other.page.reload();
  await settled(other.page); // the page follows the address from then on
  await visit(other.page, `${run}?server=actix`);
  await other.page.waitForFunction(() => window.written.length > 10);
  const written = await other.page.evaluate(() => window.written.map(String));
  assert.ok(written.length > 10 && !written.some((each) => each.startsWith('carries')), written.join());
  await other.close();
});

test('of several servers the legend says what they carry, and their markers are apart', async () => {
  const { page, complaints, close } = await web.open();
  const { run } = await addresses(page);
  await visit(page, `#/compare?run=${run.slice('#/run/'.length)}`);
  const chart = page.locator('figure.chart').filter({ hasText: ' against ' }).first();
  const notes = chart.locator('.legend small');
  await notes.first().waitFor();
  const wanted = Object.values(await found(page)).filter((each) => each.carried > 0);
  assert.equal(await notes.count(), wanted.length);
  const legend = await chart.locator('.legend li').allInnerTexts();
  for (const text of ['bun carries 5,150', 'go carries \u2265 9,000']) {
    assert.ok(
      legend.some((each) => each.replace(/\s+/g, ' ').startsWith(text)),
      `${text}: ${legend}`,
    );
  }
  const saved = page.waitForEvent('download');
  await chart.getByRole('button', { name: 'Save SVG' }).click();
  const svg = readFileSync(await (await saved).path(), 'utf8');
  const ticks = [...svg.matchAll(/<path d="M([\d.]+) ([\d.]+)V([\d.]+)" fill="none"[^>]+dasharray="7 3"/g)];
  const ends = ticks.map(([, x, , y]) => ({ x: Number(x), y: Number(y) }));
  assert.equal(ends.length, wanted.length);
  const pairs = ends.flatMap((a, number) =>
    ends.slice(number + 1).map((b) => [Math.abs(a.x - b.x), Math.abs(a.y - b.y)]),
  );
  assert.ok(
    pairs.some(([x]) => x < 10),
    'two servers carry nearly the same',
  );
  for (const [x, y] of pairs) assert.ok(x >= 10 || y >= 9.9, `markers touch: ${x} and ${y} apart`);
  assert.deepEqual(complaints, []);
  await close();
});

test('on a phone each server is a card with what it carries', async () => {
  const { page, close } = await web.open('#/?rank=capacity', PHONE);
  const values = await page
    .locator('.ranking ol .value')
    .evaluateAll((all) => all.map((each) => each.checkVisibility()));
  assert.ok(values.length > 3 && values.every(Boolean));
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
  await close();
});

test('what a search says stays text', async () => {
  const other = await serve(hostile);
  const { page, complaints, close } = await web.open(`${other.url}#/?rank=capacity`);
  for (const name of Object.keys(await found(page))) {
    await visit(page, `#/server/${encodeURIComponent(name)}`);
    assert.equal(await page.locator('main :is(script, iframe)').count(), 0, name);
    assert.equal(await page.locator('section.capacity').count(), 1, name);
  }
  assert.doesNotMatch(await page.title(), /^pwned/);
  assert.deepEqual(complaints, []);
  await close();
  await other.close();
});
