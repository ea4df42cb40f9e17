// The limits on the size and the time of the site. They are those of docs/site.md.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { browsing, serve, settled, visit } from './browser.js';
import { read } from './pages.js';
import { large } from './sites.js';

const CODE_BYTES = 60_000;
const DATA_BYTES = 100_000;
const INTERACTIVE_MS = 1_000;
const DRAW_MS = 100;
const HOVER_MS = 16;
const POINTS = 10_000;
const SERIES = 20;
const MARKS = 200;
/** The fastest try counts: other work of the machine only ever makes one slower. */
const TRIES = 5;

const web = browsing();

test('the first view of years of history is small and soon there', async (t) => {
  const server = await serve(large);
  const times = [];
  for (let round = 0; round < TRIES; round++) {
    server.requests.length = 0;
    const { page, complaints, close } = await web.open(server.url);
    times.push(await page.evaluate(() => performance.now()));
    assert.equal(await page.locator('#servers').count(), 1);
    assert.deepEqual(complaints, []);
    await close();
  }
  const sum = (wanted) => server.requests.filter(wanted).reduce((total, each) => total + each.bytes, 0);
  const data = sum((each) => each.path.startsWith('data/'));
  const code = sum((each) => !each.path.startsWith('data/'));
  assert.ok(!server.requests.some((each) => each.path.startsWith('assets/chart')), 'charts are loaded on demand');
  t.diagnostic(`code ${code} bytes, data ${data} bytes, interactive after ${Math.min(...times).toFixed(0)} ms`);
  await server.close();
  assert.ok(code <= CODE_BYTES, `${code} bytes of code`);
  assert.ok(data <= DATA_BYTES, `${data} bytes of data`);
  assert.ok(Math.min(...times) <= INTERACTIVE_MS, `${times} ms`);
});

test('a trend asks for older years only when it is zoomed out', async (t) => {
  const server = await serve(large);
  const { page, close } = await web.open(`${server.url}#/trend`);
  const recent = server.requests.filter((each) => each.path.startsWith('data/'));
  assert.ok(recent.every((each) => !/\/20\d\d\//.test(each.path)));
  const bytes = recent.reduce((total, each) => total + each.bytes, 0);
  t.diagnostic(`data of the recent trend ${bytes} bytes`);
  assert.ok(bytes <= DATA_BYTES, `${bytes} bytes`);
  await page.getByRole('link', { name: 'All', exact: true }).click();
  await page.waitForTimeout(50);
  await settled(page);
  assert.ok(server.requests.some((each) => /\/2023\//.test(each.path)));
  assert.match(await page.locator('.ranges').innerText(), /^Runs 1 to/);
  await close();
  await server.close();
});

test('of many servers a trend shows the four best until a reader chooses', async () => {
  const server = await serve(large);
  const { page, complaints, close } = await web.open(`${server.url}#/trend`);
  const shown = () => page.locator('.legend button[aria-pressed=true]').allInnerTexts();
  const [combination] = (await read(page, 'manifest')).combinations;
  const { servers } = await read(page, `${combination.id}/recent/1000/cpu_seconds_per_delivery`);
  const newest = (name) => servers[name].values.findLast((value) => value !== null);
  const best = Object.keys(servers).sort((a, b) => newest(a) - newest(b));
  assert.deepEqual((await shown()).sort(), best.slice(0, 4).sort());
  await page.locator('.legend').getByRole('button', { name: best[6], exact: true }).click();
  await page.waitForTimeout(30);
  await settled(page);
  assert.deepEqual((await shown()).sort(), [...best.slice(0, 4), best[6]].sort());
  await page.getByRole('link', { name: 'Show all servers' }).click();
  await page.waitForTimeout(30);
  await settled(page);
  assert.equal((await shown()).length, best.length);
  await visit(page, `#/trend?hide=${best[0]}`);
  assert.equal((await shown()).length, best.length - 1, 'an address from before');
  assert.deepEqual(complaints, []);
  await close();
  await server.close();
});

test('a chart of many lines and points is drawn at once and follows the pointer', async (t) => {
  const folder = manyPoints();
  const server = await serve(folder);
  const { page, complaints, close } = await web.open(`${server.url}#/trend?s=*`);
  const draws = [];
  for (let round = 0; round < TRIES; round++) {
    await visit(page, `#/trend?s=*&y=${round % 2 ? 'log' : 'value'}&n=${round}`);
    draws.push(await page.evaluate(() => performance.getEntriesByName('draw').at(-1).duration));
  }
  const moves = await page.evaluate(async () => {
    const over = document.querySelector('.u-over');
    const box = over.getBoundingClientRect();
    const took = [];
    for (let step = 0; step < 120; step++) {
      await new Promise(requestAnimationFrame);
      const began = performance.now();
      const at = { clientX: box.left + (box.width * step) / 120, clientY: box.top + 40, bubbles: true };
      over.dispatchEvent(new MouseEvent(step ? 'mousemove' : 'mouseenter', at));
      await Promise.resolve();
      took.push(performance.now() - began);
    }
    return took.sort((a, b) => a - b);
  });
  const hover = moves[Math.floor(moves.length * 0.95)];
  const drawn = Math.min(...draws);
  t.diagnostic(
    `${SERIES} lines of ${POINTS} points drawn in ${drawn.toFixed(0)} ms, hover ${hover.toFixed(1)} ms (p95)`,
  );
  assert.ok((await page.locator('.badges li').count()) > 3);
  assert.deepEqual(complaints, []);
  await close();
  await server.close();
  rmSync(folder, { recursive: true });
  assert.ok(drawn <= DRAW_MS, `${draws} ms`);
  assert.ok(hover <= HOVER_MS, `${hover} ms`);
});

/** A site with one combination, whose recent window is larger than any real one. */
function manyPoints() {
  const folder = mkdtempSync(join(tmpdir(), 'pushbench-'));
  for (const name of ['index.html', 'assets']) cpSync(join(large, name), join(folder, name), { recursive: true });
  const names = Array.from({ length: SERIES }, (_, index) => `server-${index}`);
  const runs = Array.from({ length: POINTS }, (_, index) => index);
  const write = (name, data) => {
    const file = join(folder, 'data', `${name}.js`);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, `pushbenchData('${name}','${JSON.stringify({ schema: 2, ...data })}')\n`);
  };
  const metric = 'cpu_seconds_per_delivery';
  write('manifest', {
    repository: null,
    judged_by: 'x',
    servers: {},
    metrics: { [metric]: { title: 'CPU per delivery', unit: 'seconds', better: 'lower' } },
    margins: {},
    environments: {},
    runs: [],
    all_runs: POINTS,
    combinations: [
      {
        id: 'e/s/p/0',
        environment: 'e',
        suite: 's',
        profile: 'p',
        parameters: {},
        stages: [{ name: '1000', clients: 1000 }],
        metrics: [metric],
        servers: names,
        runs: POINTS,
        first: '2020-01-01T00:00:00Z',
        last: '2026-01-01T00:00:00Z',
        overview: 'x',
        marks: 'x',
        windows: [{ name: 'recent', from: 0, to: POINTS, version: 'x', first: '2020-01-01T00:00:00Z' }],
      },
    ],
  });
  write('e/s/p/0/recent/runs', {
    from: 0,
    ids: runs.map((index) => `r${index}`),
    times: runs.map((index) => 1.6e9 + index * 3600),
    commits: runs.map(() => '770fdf8a1b2c'),
    subjects: runs.map(() => 'A commit'),
    invalid: {},
  });
  write('e/s/p/0/marks', {
    marks: Array.from({ length: MARKS }, (_, index) => ({
      kind: 'release',
      at: (index * POINTS) / MARKS,
      name: `v1.${index}.0`,
      commit: '770fdf8a1b2c',
      time: 1.6e9,
      exact: true,
    })),
    left_out: 0,
  });
  // A generator of its own, the same every time: Numerical Recipes' linear congruential one.
  let state = 1;
  const noise = () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const series = (index) => ({
    values: runs.map(() => 1e-5 * (index + 1) * (1 + 0.1 * noise())),
    levels: [],
    changes: [],
  });
  write(`e/s/p/0/recent/1000/${metric}`, {
    from: 0,
    servers: Object.fromEntries(names.map((name, index) => [name, series(index)])),
  });
  return folder;
}
