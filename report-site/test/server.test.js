// A server has a page of its own: what it is, its numbers and its place, its trend, and how to measure it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browsing, serve, visit } from './browser.js';
import { read } from './pages.js';
import { hostile, small } from './sites.js';

const web = browsing(small);

test('a server says what it is, how it did wherever it was measured, and how to measure it', async () => {
  const { page, complaints, close } = await web.open('#/');
  const { combinations, servers } = await read(page, 'manifest');
  const overview = await read(page, `${combinations[0].id}/overview`);
  const place = await page.locator('.ranking ol > li', {
    has: page.getByRole('link', { name: 'fastapi', exact: true }),
  });
  const ranked = (await place.locator('.place').innerText()).trim();
  await place.locator('.server a').click();
  await page.getByRole('heading', { level: 1, name: servers.fastapi.title }).waitFor();
  assert.match(page.url(), /#\/server\/fastapi$/);
  await visit(page, '#/server/fastapi');
  const text = await page.locator('main').innerText();
  for (const word of [servers.fastapi.language, servers.fastapi.protocol, servers.fastapi.tier]) {
    assert.ok(text.includes(word), word);
  }
  assert.equal(await page.locator('main h2').count(), combinations.length + 3);
  const cells = await page.locator('main .table').first().locator('tbody tr').first().locator('td').allInnerTexts();
  assert.equal(cells[1], `${ranked} of ${overview.rows.length}`);
  const links = await page
    .locator('.links')
    .first()
    .locator('a')
    .evaluateAll((all) => all.map((each) => each.href));
  assert.deepEqual(links, [servers.fastapi.link, 'https://github.com/example/pushbench/tree/HEAD/servers/fastapi']);
  assert.deepEqual(await page.locator('section[aria-labelledby=again] .command pre').allInnerTexts(), [
    './pushbench verify fastapi',
    './pushbench run fastapi --profile full',
  ]);
  assert.equal(await page.locator('figure.chart .canvas').count(), 7, 'two of the search, four of load, a trend');
  assert.deepEqual(complaints, []);
  await close();
});

test('the pictures of a server are shown with the Markdown that embeds them', async () => {
  for (const site of [small, hostile]) {
    const server = await serve(site, '/some/where/');
    const { page, complaints, close } = await web.open(`${server.url}index.html`, { colorScheme: 'dark' });
    const { charts } = await read(page, 'manifest');
    for (const [name, pictures] of Object.entries(charts)) {
      await visit(page, `#/server/${encodeURIComponent(name)}?theme=light`);
      const shown = page.locator('section[aria-labelledby=embed]');
      for (const image of await shown.locator('img').all()) {
        await image.scrollIntoViewIfNeeded();
        await image.evaluate((each) => each.decode());
      }
      const texts = await shown.locator('pre').allInnerTexts();
      assert.equal(texts.length, pictures.length, name);
      for (const text of texts) {
        const [, alt, picture, target] = /^\[!\[(.*)\]\(([^()]*)\)\]\(([^()]*)\)$/.exec(text) ?? [];
        assert.ok(alt && !/[^\\][[\]<>]/.test(alt), text);
        assert.equal((await page.request.get(picture)).headers()['content-type'], 'image/svg+xml', text);
        await page.goto(target);
        await page.getByRole('heading', { level: 1 }).waitFor();
        assert.match(page.url(), /^[^?]*#\/server\//);
      }
    }
    assert.deepEqual(complaints, []);
    await close();
    await server.close();
  }
});

test('a server that nobody knows has one sentence', async () => {
  const { page, complaints, close } = await web.open('#/server/nowhere');
  assert.match(
    await page.locator('main').innerText(),
    /This checkout has no server nowhere, and no run measured one\./,
  );
  assert.deepEqual(complaints, []);
  await close();
});

test('each name has a page, and stays text there', async () => {
  const server = await serve(hostile);
  const { page, complaints, close } = await web.open(server.url);
  const { combinations } = await read(page, 'manifest');
  for (const name of combinations[0].servers) {
    await visit(page, `#/server/${encodeURIComponent(name)}`);
    const found = await page.evaluate(() => ({
      title: document.title,
      elements: document.querySelectorAll('main img:not([src^="charts/"]), main script, main iframe').length,
      rows: document.querySelectorAll('main tbody tr').length,
    }));
    assert.equal(found.elements, 0, name);
    assert.ok(found.title.startsWith('Server '), found.title);
    assert.ok(found.rows > 4, name);
  }
  assert.deepEqual(complaints, []);
  await close();
  await server.close();
});
