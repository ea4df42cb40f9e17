// Wherever a reader sees a number: the definitions behind it, and what was due beside what arrived.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browsing, visit } from './browser.js';
import { read } from './pages.js';
import { small } from './sites.js';

const web = browsing(small);

test('what was due stands beside a throughput below it, and older runs say how they counted', async () => {
  const { page, complaints, close } = await web.open();
  await visit(page, '#/');
  const { combinations, runs } = await read(page, 'manifest');
  const [newest, older] = combinations;
  const behind = `server=${encodeURIComponent(newest.servers[2])}`;
  const [run, oldRun] = combinations.map(
    (each) => runs.find((one) => one.environment === each.environment && one.whole && !one.comparison).id,
  );
  const short = /8,000 \/s\s+of 10,000 \/s due/;
  const method1 = /Method 1: deliveries out and costs per delivery count what was due/;
  for (const [hash, due, old] of [
    ['#/', true, false],
    [`#/run/${run}?${behind}`, true, false],
    [`#/run/${oldRun}?${behind}`, false, true],
    [`#/compare?run=${run}`, true, false],
    [`#/compare?run=${oldRun}`, false, true],
    [`#/compare?of=runs&a=${oldRun}&b=${run}&only=0`, true, true],
    [`#/trend?c=${encodeURIComponent(newest.id)}&metric=throughput_per_second`, false, false],
    [`#/trend?c=${encodeURIComponent(older.id)}&metric=throughput_per_second`, false, true],
    [`#/trend?c=${encodeURIComponent(older.id)}&metric=loss_ratio`, false, false],
  ]) {
    await visit(page, hash);
    const text = await page.locator('main').innerText();
    assert.deepEqual([short.test(text), method1.test(text)], [due, old], `${hash}: ${text}`);
  }
  for (const [id, generators, method] of [
    [run, '1', '2'],
    [oldRun, 'not recorded', '1'],
  ]) {
    await visit(page, `#/run/${id}`);
    const facts = await page.locator('details', { hasText: 'Environment and versions' }).textContent();
    assert.ok(facts.includes(`Generators${generators}Method${method}Idle CPUsmay halt`), facts);
  }
  assert.deepEqual(complaints, []);
  await close();
});
