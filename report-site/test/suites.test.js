// Each suite is shown in its own words, and apart from the others.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { browsing, settled, unfold, visit } from './browser.js';
import { read } from './pages.js';
import { suites } from './sites.js';

const WHITEBOARD = /deliver|echo|fan-?out|stroke|board|fastapi/i;
const CHOICE = 'fieldset:has(> legend:text-is("Suite"))';

const web = browsing(suites);
let page;
let tokens;
let whiteboard;
before(async () => {
  ({ page } = await web.open());
  const { combinations, runs } = await read(page, 'manifest');
  const of = (suite) => ({
    combination: combinations.find((each) => each.suite === suite),
    run: runs.find((each) => each.suite === suite && each.whole && !each.comparison && each.outcome !== 'fail').id,
    comparison: runs.find((each) => each.suite === suite && each.comparison).id,
    older: runs.find((each) => each.suite === suite && !each.whole)?.id,
  });
  tokens = of('tokens');
  whiteboard = of('whiteboard');
});

/** The text of a page, fully unfolded, without the names of the suites that can be chosen. */
async function said(hash) {
  await visit(page, hash);
  await unfold(page);
  const text = await page.locator('main').innerText();
  const choice = page.locator(CHOICE);
  return (await choice.count()) ? text.replace(await choice.innerText(), '') : text;
}

const query = (values) => new URLSearchParams(values).toString();

test('no page of a suite has a word or a server of another one', async () => {
  const c = tokens.combination.id;
  for (const [hash, ...words] of [
    [`#/?${query({ c })}`, 'Tokens', 'CPU / token', 'of the first token latency', 'spring-mvc-sse'],
    [`#/trend?${query({ c })}`, 'CPU per token, stage 1000, token stream, full'],
    [`#/trend?${query({ c, metric: 'first_token_seconds.p95' })}`, 'First token p95, stage 1000'],
    [
      `#/compare?${query({ c })}`,
      'Tokens out',
      'First token p95',
      'CPU per token',
      'First token latency at stage 1000',
    ],
    [`#/compare?${query({ c, of: 'runs', only: '0' })}`, 'CPU per token', 'First token p95'],
    [`#/compare?${query({ c, of: 'runs', only: '0', server: 'go-sse' })}`, 'go-sse: first token latency at stage 1000'],
    [
      `#/run/${tokens.run}`,
      ...['Token stream, full', 'First token p95', 'Streams in', 'go-sse: first token latency, by stage'],
      ...['Streams and tokens a second', 'First token latency'],
    ],
    [`#/run/${tokens.run}?kind=gap`, 'go-sse: gap latency, by stage'],
    [`#/run/${tokens.comparison}`, 'Head against base', 'CPU per token'],
    [`#/run/${tokens.older}`, 'First token p95', 'CPU per token'],
    ['#/runs?suite=tokens', 'Token stream, full'],
  ]) {
    const text = await said(hash);
    for (const word of words) assert.ok(text.includes(word), `${hash} has no ${word}: ${text}`);
    const about = text.replace(/ fastapi.*|--servers .*/g, '');
    assert.doesNotMatch(about, WHITEBOARD, hash);
  }
  const other = { c: whiteboard.combination.id };
  for (const hash of [`#/?${query(other)}`, `#/compare?${query(other)}`, `#/run/${whiteboard.run}`]) {
    assert.doesNotMatch(await said(hash), /token|\bstreams?\b|sse\b/i, hash);
  }
});

test('a column has a number in the stage that is shown, and each latency that was measured can be chosen', async () => {
  const heads = async (stage) => {
    await visit(page, `#/compare?${query({ c: tokens.combination.id, stage })}`);
    const latencies = page.locator('fieldset:has(> legend:text-is("Latency")) a');
    return [
      await page.locator('main table').first().locator('thead th').allInnerTexts(),
      await latencies.allInnerTexts(),
    ];
  };
  const [plain, plainLatencies] = await heads('1000');
  const [paced, pacedLatencies] = await heads('500');
  assert.deepEqual(
    paced.filter((each) => !plain.includes(each)),
    ['Gap p99', 'Gap max'],
  );
  assert.deepEqual(plainLatencies, ['First token', 'Complete']);
  assert.deepEqual(pacedLatencies, ['First token', 'Complete', 'Gap']);
  const cells = await page.locator('main table').first().locator('tbody td').allInnerTexts();
  assert.ok(cells.length > 20 && !cells.includes('-'), cells.join(' | '));
});

test('one suite is chosen at a time, and what was chosen of the other is forgotten', async () => {
  const first = whiteboard.combination;
  for (const [name, at] of [
    ['', { c: first.id, sort: '-delivery_seconds.p95' }],
    ['trend', { c: first.id, metric: 'delivery_seconds.p95', s: first.servers[0], stage: '500' }],
    ['compare', { run: whiteboard.run, stage: '500', kind: 'echo', hide: first.servers[0] }],
    ['compare', { of: 'runs', b: whiteboard.run, server: first.servers[0] }],
  ]) {
    await visit(page, `#/${name}?${query(at)}`);
    const choice = page.locator(CHOICE);
    assert.equal(await choice.locator('[aria-current]').innerText(), 'Shared whiteboard', name);
    await choice.getByRole('link', { name: 'Token stream' }).click();
    await page.waitForTimeout(30);
    await settled(page);
    assert.equal(await page.locator(CHOICE).locator('[aria-current]').innerText(), 'Token stream', name);
    assert.match(page.url(), /%2Ftokens%2F/);
    assert.doesNotMatch(decodeURIComponent(page.url()), /delivery|echo|whiteboard|stage=|hide=|server=|sort=/);
    assert.equal(await page.locator('main .empty').filter({ hasText: 'in common' }).count(), 0);
  }
});

test('the runs of one suite can be listed alone', async () => {
  const suitesOf = async (hash) => {
    await visit(page, hash);
    const column = (await page.locator('thead th').allInnerTexts()).indexOf('Suite');
    const cells = await page.locator(`tbody tr > :nth-child(${column + 1})`).allInnerTexts();
    return [...new Set(cells.map((cell) => cell.split(',')[0]))].sort();
  };
  assert.deepEqual(await suitesOf('#/runs'), ['Shared whiteboard', 'Token stream']);
  assert.deepEqual(await suitesOf('#/runs?suite=tokens'), ['Token stream']);
});

test('the method tells of each suite which latencies, limits and margins it has', async () => {
  await visit(page, '#/method');
  const section = page.locator('section[aria-labelledby="suite-tokens"]');
  const text = await section.innerText();
  for (const word of [
    'Latencies of streams',
    'First token: until the first',
    'Gap: from one',
    'CPU per token',
    'First token p95',
    'Loss',
  ]) {
    assert.ok(text.includes(word), `${word}: ${text}`);
  }
  assert.doesNotMatch(text, WHITEBOARD);
});

test('the method tells what the servers of each suite promise, and of all servers nothing of one suite', async () => {
  await visit(page, '#/method');
  const promised = page.locator('#suite-whiteboard ~ details', { hasText: 'What its servers promise' });
  await promised.locator('> summary').click();
  assert.match(await promised.innerText(), /A draw reaches every member of its board exactly once/);
  const ofAll = await page.locator('section[aria-labelledby="contract"]').innerText();
  assert.match(ofAll, /exits with 0 within 5 s/);
  assert.doesNotMatch(ofAll, /deliver|echo|stroke|\bboards?\b|\btokens?\b|whiteboard/i);
});

test('what was measured stands beside a publication of its suite alone', async () => {
  await visit(page, '#/published');
  const rows = await page.locator('tbody tr').allInnerTexts();
  assert.match(rows[0], /^Spring WebSocket\s+published\s+3 % at first/);
  const fastapi = rows.findIndex((row) => row.startsWith('FastAPI\t'));
  assert.match(rows[fastapi + 1], /measured here\s+0 %\s+[\d.]+ ms/);
  await visit(page, '#/published/token-stream');
  assert.match(await page.locator('main').innerText(), /Nothing here measures this yet/);
});

test('what a run has not measured beside a publication has its reason', async () => {
  await visit(page, '#/published');
  const text = await page.locator('tbody').innerText();
  assert.match(text, /not in this run/);
  assert.doesNotMatch(text, /no stage/);
  const { page: other, close } = await web.open();
  await other.route('**/publications.js*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace(/"stage":\s*null/g, '"stage":"7"') });
  });
  await visit(other, '#/published');
  const { profile } = whiteboard.combination;
  assert.match(await other.locator('tbody').innerText(), new RegExp(`${profile} has no stage 7`));
  await close();
});

test('a publication names its author, and links to it where its address is known', async () => {
  for (const [hash, said, to] of [
    ['#/published', /^Source: Kyung Hee University.* Not known here: title, year, address\.$/, []],
    ['#/published/typing-game', /^Source: Sahaj Bhatt, .*, 2026, /, ['https://sahaj.dev/blog/socketio-benchmark']],
  ]) {
    await visit(page, hash);
    const source = page.locator('.source');
    assert.match(await source.innerText(), said);
    assert.deepEqual(await source.locator('a').evaluateAll((all) => all.map((each) => each.href)), to);
  }
});

test('a run of some servers says how many, and why not more', async () => {
  const c = whiteboard.combination.id;
  const hash = `#/?${query({ c })}`;
  assert.doesNotMatch(await said(hash), /The newest run measured/);
  const { page: other, close } = await web.open();
  await other.route('**/overview.js*', async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/("newest":\{.*?"servers":)\d+/, (_, before) => `${before}2`);
    await route.fulfill({ response, body });
  });
  await visit(other, hash);
  const text = await other.locator('main').innerText();
  assert.match(
    text,
    /The newest run measured 2 of 6 servers with the profile \w+\. A run without time for all of them/,
  );
  await close();
});
