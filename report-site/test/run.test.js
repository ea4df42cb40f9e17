// A run opens with all its servers, on one that failed, and hides neither CPU nor memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browsing, settled, visit } from './browser.js';
import { addresses, read } from './pages.js';
import { small } from './sites.js';

const web = browsing(small);

/** The server that is shown in full. */
const chosen = (page) =>
  page
    .locator('label.pick', { hasText: /^Server/ })
    .locator('select')
    .inputValue();

test('a failed run opens on the server that failed, and its reasons lead to their servers', async () => {
  const { page, complaints, close } = await web.open();
  const hash = (await addresses(page))['run-failed'];
  const { verdict, servers } = await read(page, `runs/${hash.slice('#/run/'.length)}`);
  const failed = verdict.servers.find((each) => each.outcome === 'fail');
  assert.notEqual(servers[0].server, failed.server);
  await visit(page, hash);
  assert.equal(await chosen(page), failed.server);
  const summary = page.locator('#summary ~ .table tbody tr');
  assert.equal(await summary.count(), servers.length);
  assert.match(await summary.first().innerText(), new RegExp(`^\\s*${failed.server}\\s+\u2717 fail\\s`));
  assert.match(await page.locator('.reasons a').first().innerText(), new RegExp(`^${failed.server}: failed`));
  const other = verdict.servers.find((each) => each.outcome !== 'fail' && each.reasons.length);
  const link = page.getByLabel('Verdict').getByRole('link', { name: other.reasons[0], includeHidden: true });
  await visit(page, await link.getAttribute('href'));
  assert.equal(await chosen(page), other.server);
  assert.deepEqual(complaints, []);
  await close();
});

test('latency, CPU and memory of a server are among the first rows', async () => {
  const { page, close } = await web.open();
  await visit(page, (await addresses(page)).run);
  const rows = await page.locator('h2 ~ .table').nth(1).locator('tbody th').allInnerTexts();
  const all = rows.length ? rows : await page.locator('main .table').nth(1).locator('tbody th').allInnerTexts();
  assert.deepEqual(all.slice(0, 5), ['Clients', 'Delivery p95', 'CPU per delivery', 'CPU', 'Memory peak']);
  await close();
});

test('the parts of a system follow the memory that they sum up to', async () => {
  const { page, close } = await web.open();
  const hash = (await addresses(page)).run;
  const { servers } = await read(page, `runs/${hash.slice('#/run/'.length)}`);
  const system = servers.find((each) => each.stages.some((stage) => stage.parts));
  await visit(page, `${hash}?server=${system.server}`);
  const rows = await page.locator('tbody tr').allInnerTexts();
  const from = rows.findIndex((row) => row.startsWith('app: ')) - 1;
  const titles = rows.slice(from, from + 7).map((row) => row.split('\t')[0]);
  const of = (part) => [`${part}: CPU per delivery`, `${part}: CPU`, `${part}: Memory peak`];
  assert.deepEqual(titles, ['Memory peak', ...of('app'), ...of('db')]);
  const memory = (row) => Number(row.split('\t')[1].split(' ')[0]);
  const sum = memory(rows[from + 3]) + memory(rows[from + 6]);
  assert.ok(Math.abs(sum / memory(rows[from]) - 1) < 0.02, `${sum} of ${memory(rows[from])}`);
  await close();
});

test('on paper stand suite, profile and machine, and nothing is wider than the paper', async () => {
  const { page, close } = await web.open('', { viewport: { width: 720, height: 1018 } });
  await page.emulateMedia({ media: 'print' });
  const known = await addresses(page);
  for (const hash of [known.run, known['run-failed'], known.overview, known.server]) {
    await visit(page, hash);
    await settled(page);
    const text = await page.locator('main').innerText();
    const chosen = await page.locator('select').evaluateAll((all) => all.map((each) => each.selectedOptions[0].text));
    assert.match(`${text} ${chosen}`, /AMD EPYC 7763/, hash);
    assert.match(`${text} ${chosen}`, /Shared whiteboard/, hash);
    const wide = await page.evaluate(() =>
      [...document.querySelectorAll('main *')]
        .filter((each) => each.checkVisibility() && each.getBoundingClientRect().right > innerWidth + 1)
        .map((each) => each.outerHTML.slice(0, 80)),
    );
    assert.deepEqual(wide, [], hash);
    assert.equal(await page.locator('header nav').isVisible(), false);
    for (const select of await page.locator('select').all()) assert.equal(await select.isVisible(), true);
  }
  await close();
});
