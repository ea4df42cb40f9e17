// The site works with lying records and broken files, and wherever it is hosted.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { browsing, missing, serve, unfold, visit } from './browser.js';
import { addresses } from './pages.js';
import { empty, hostile, small } from './sites.js';

const web = browsing();

test('the policy allows scripts and styles of the site and nothing else', () => {
  const policy = /Content-Security-Policy"\s+content="([^"]+)"/.exec(
    readFileSync(join(small, 'index.html'), 'utf8'),
  )[1];
  const rules = Object.fromEntries(policy.split('; ').map((rule) => rule.split(/ (.*)/s)));
  assert.equal(rules['default-src'], "'none'");
  assert.equal(rules['script-src'], "'self'");
  assert.equal(rules['style-src'], "'self'");
  assert.equal(rules['connect-src'], undefined);
});

test('every page works below a path, and asks nobody else', async () => {
  const server = await serve(small, '/some/where/');
  const { page, complaints, close } = await web.open(server.url);
  for (const hash of Object.values(await addresses(page))) await visit(page, hash);
  assert.deepEqual(complaints, []);
  assert.deepEqual(missing(server), []);
  await close();
  await server.close();
});

test('every page works from the disk', async () => {
  const { page, complaints, close } = await web.open(pathToFileURL(join(small, 'index.html')).href);
  for (const [name, hash] of Object.entries(await addresses(page))) {
    await visit(page, hash);
    assert.equal(await page.locator('[role=alert]').count(), 0, name);
  }
  assert.deepEqual(complaints, []);
  await close();
});

test('what records say stays text', async () => {
  const server = await serve(hostile);
  const { page, complaints, close } = await web.open(server.url);
  page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  const servers = await page.locator('#servers ~ .table tbody th a').allInnerTexts();
  assert.ok(servers.some((name) => name.includes('onerror')));
  const { 'run-oldest': _, ...others } = await addresses(page); // which is drawn as the newest
  const wanted = Object.values(others);
  const runs = wanted.filter((hash) => hash.startsWith('#/run/'));
  for (const name of servers.filter((each) => !/^[\w-]+$/.test(each))) {
    for (const run of runs) wanted.push(`${run}?${new URLSearchParams({ server: name })}`);
    wanted.push(`#/trend?${new URLSearchParams({ s: name })}`);
  }
  wanted.push(
    '#/run/%3Cimg%20src=x%20onerror=alert(1)%3E',
    '#/trend?c=javascript:alert(1)',
    '#/%3Cscript%3E',
    '#/run/%E0%A4%A',
  );
  for (const hash of wanted) {
    await visit(page, hash);
    await unfold(page);
    const found = await page.evaluate(() => ({
      title: document.title,
      elements: document.querySelectorAll('main img:not([src^="charts/"]), main script, main iframe, main object')
        .length,
      links: [...document.links]
        .map((link) => link.protocol)
        .filter((each) => !['http:', 'https:', 'file:'].includes(each)),
      handlers: [...document.querySelectorAll('*')].filter((each) =>
        [...each.attributes].some((one) => one.name.startsWith('on')),
      ).length,
    }));
    assert.doesNotMatch(found.title.replace(/^(Run|Server) .*/, ''), /pwned/, hash);
    assert.deepEqual({ ...found, title: '' }, { title: '', elements: 0, links: [], handlers: 0 }, hash);
  }
  assert.deepEqual(
    complaints.filter((each) => !each.includes('404')),
    [],
  );
  await close();
  await server.close();
});

const BREAKS = {
  missing: { wreck: (file) => rmSync(file), says: /is missing\.$/ },
  truncated: { wreck: (file) => writeFileSync(file, readFileSync(file).subarray(0, 300)), says: /is incomplete\.$/ },
  empty: { wreck: (file) => writeFileSync(file, ''), says: /is incomplete\.$/ },
  'of a newer schema': {
    wreck: (file) => writeFileSync(file, readFileSync(file, 'utf8').replace('"schema":3', '"schema":4')),
    says: /has schema 4, this page reads up to 3/,
  },
  'of something else': {
    wreck: (file) => writeFileSync(file, "pushbenchData('manifest','[]')"),
    says: /incomplete|not data/,
  },
};

for (const [name, { wreck, says }] of Object.entries(BREAKS)) {
  test(`a file that is ${name} has one sentence on its page, and the rest works`, async () => {
    const site = mkdtempSync(join(tmpdir(), 'pushbench-'));
    cpSync(small, site, { recursive: true });
    const data = join(site, 'data');
    const files = readdirSync(data, { recursive: true }).map(String);
    const one = (pattern) => files.find((file) => pattern.test(file));
    const overview = one(/full\/.*\/overview\.js$/);
    const series = one(/full\/.*recent\/1000\/cpu_seconds_per_delivery\.js$/);
    const { page, close } = await web.open(pathToFileURL(join(site, 'index.html')).href);
    const { run } = await addresses(page);
    await close();
    const id = run.slice('#/run/'.length);
    for (const file of [overview, series, `runs/${id}.js`, 'method.js']) wreck(join(data, file));
    const sound = await web.open(pathToFileURL(join(site, 'index.html')).href);
    for (const hash of ['#/', '#/trend', run, '#/method']) {
      await visit(sound.page, hash);
      const said = await sound.page.locator('[role=alert]').allInnerTexts();
      assert.equal(said.length, 1, `${hash}: ${said}`);
      assert.match(said[0], says, hash);
      assert.doesNotMatch(said[0], /undefined|SyntaxError/);
    }
    for (const hash of ['#/runs', '#/trend?metric=delivery_seconds.p95']) {
      await visit(sound.page, hash);
      assert.equal(await sound.page.locator('[role=alert]').count(), 0, hash);
      assert.ok((await sound.page.locator('main').innerText()).length > 100, hash);
    }
    await sound.close();
    wreck(join(data, 'manifest.js'));
    const context = await web.browser.newContext();
    const whole = await context.newPage();
    await whole.goto(pathToFileURL(join(site, 'index.html')).href);
    await whole.locator('[role=alert]').waitFor();
    assert.match(await whole.locator('[role=alert]').innerText(), says);
    await context.close();
    rmSync(site, { recursive: true });
  });
}

test('a page whose code is missing says so, and the others work', async () => {
  const site = mkdtempSync(join(tmpdir(), 'pushbench-'));
  cpSync(small, site, { recursive: true });
  rmSync(join(site, 'assets', 'method.js'));
  const { page, close } = await web.open(pathToFileURL(join(site, 'index.html')).href);
  await page.evaluate(() => {
    location.hash = '#/method';
  });
  await page.locator('[role=alert]').waitFor();
  assert.equal(await page.locator('[role=alert]').innerText(), 'The file assets/method.js is missing.');
  await visit(page, '#/runs');
  assert.equal(await page.locator('[role=alert]').count(), 0);
  await close();
  rmSync(site, { recursive: true });
});

test('a site without any run says what to do', async () => {
  const { page, complaints, close } = await web.open(pathToFileURL(join(empty, 'index.html')).href);
  assert.match(await page.locator('main').innerText(), /Nothing has been measured yet[\s\S]*make bench/);
  for (const hash of Object.values(await addresses(page))) await visit(page, hash);
  assert.deepEqual(complaints, []);
  await close();
});
