// The first screen answers five questions without a click or a scroll, with the same answers as the parts below.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browsing, settled, visit } from './browser.js';
import { read } from './pages.js';
import { small } from './sites.js';

/** The tested sizes: a small laptop's window, and a phone's. */
const SCREENS = {
  laptop: { viewport: { width: 1280, height: 720 } },
  phone: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
};
const WEEK_MS = 7 * 86_400_000;

const web = browsing(small);

/** Each question with its answer, the address that it leads to, and how far down the page it ends. */
function answers(page) {
  return page.locator('.answers > div').evaluateAll((all) =>
    all.map((each) => ({
      question: each.querySelector('dt').innerText,
      answer: each.querySelector('a').innerText,
      detail: each.querySelector('.detail').innerText,
      to: each.querySelector('a').getAttribute('href'),
      bottom: each.getBoundingClientRect().bottom,
    })),
  );
}

/** The servers of the first place of the ranking below, and the value of the first of them. */
async function firstPlace(page) {
  const rows = await page.locator('.ranking ol > li').evaluateAll((all) =>
    all.map((each) => ({
      first: each.querySelector('.place').innerText.replace('=', '') === '1',
      server: each.querySelector('.server a').innerText,
      value: each.querySelector('.value').innerText,
    })),
  );
  return { servers: rows.filter((each) => each.first).map((each) => each.server), value: rows[0].value };
}

function together([first, ...others]) {
  return others.length < 2 ? [first, ...others].join(', ') : `${first} and ${others.length} more`;
}

for (const [name, options] of Object.entries(SCREENS)) {
  test(`five questions are answered on the first screen of a ${name}`, async () => {
    const { page, complaints, close } = await web.open('', options);
    const found = await answers(page);
    assert.deepEqual(
      found.map((each) => each.question.replace(/\d{4}-\d\d-\d\d/, 'a day')),
      [
        'Best delivery p95 at 1,000 clients',
        'Least CPU per delivery',
        'Most clients within limits',
        'Worse in the week to a day',
        'Can I trust it?',
      ],
    );
    for (const each of found) {
      assert.ok(each.answer && each.detail, JSON.stringify(each));
      assert.ok(each.bottom <= options.viewport.height, `${each.question} ends at ${each.bottom}`);
    }
    assert.equal(await page.evaluate(() => scrollY), 0);
    assert.deepEqual(complaints, []);
    await close();
  });
}

test('the best are those of the rankings that the answers lead to', async () => {
  const { page, close } = await web.open();
  for (const number of [0, 1, 2]) {
    await visit(page, '#/');
    const { answer, detail, to } = (await answers(page))[number];
    await visit(page, to);
    const { servers, value } = await firstPlace(page);
    assert.equal(answer, together(servers));
    assert.equal(Number.parseFloat(detail.replace(/at least |,/g, '')) > 0, true);
    if (number === 2) assert.equal(detail, value);
  }
  await close();
});

test('lower bounds that may be more than the largest capacity are counted', async () => {
  const { page, close } = await web.open();
  const [{ id }] = (await read(page, 'manifest')).capacities;
  const found = await read(page, id);
  const bounds = Object.values(found.servers).filter((each) => each.at_least);
  const [most, bound] = bounds.sort((a, b) => b.carried - a.carried);
  const detail = async () => {
    await page.route(`**/${id}.js*`, (route) => {
      const body = `pushbenchData('${id}',${JSON.stringify(JSON.stringify(found))})\n`;
      return route.fulfill({ contentType: 'text/javascript', body });
    });
    await page.reload();
    await settled(page);
    await page.unroute(`**/${id}.js*`);
    return (await answers(page))[2].detail;
  };
  assert.equal(await detail(), 'at least 9,000 clients');
  Object.assign(most, { at_least: false, high: 9_500 });
  bound.points = bound.points.filter((each) => each.carried);
  assert.equal(await detail(), '9,000 clients; 1 other may carry more');
  bound.points.push({ load: 8_000, carried: false, metrics: {} });
  assert.equal(await detail(), '9,000 clients');
  await close();
});

test('what got worse, and what the numbers are worth, is what the newest runs say', async () => {
  const { page, close } = await web.open();
  const [chosen] = (await read(page, 'manifest')).combinations;
  const overview = await read(page, `${chosen.id}/overview`);
  const newest = Date.parse(overview.newest.created);
  const at = async (events) => {
    await page.route('**/overview.js*', (route) => {
      const text = JSON.stringify({ ...overview, events });
      const body = `pushbenchData('${chosen.id}/overview',${JSON.stringify(text)})\n`;
      return route.fulfill({ contentType: 'text/javascript', body });
    });
    await page.reload();
    await settled(page);
    await page.unroute('**/overview.js*');
    return (await answers(page))[3];
  };
  const event = (server, days, word = 'worse') => ({
    ...overview.events[0],
    ...{ server, word, metric: 'cpu_seconds_per_delivery', before: 1e-5, after: 1.2e-5 },
    created: new Date(newest - days * 86_400_000).toISOString(),
  });
  assert.ok(
    overview.events.some((each) => newest - Date.parse(each.created) > WEEK_MS),
    'an older one is left out',
  );
  const quiet = await at([event('go', 8), event('bun', 1, 'better')]);
  assert.equal(quiet.answer, 'nothing');
  const moved = await at([event('bun', 1), event('go', 2), event('bun', 3), event('actix', 8)]);
  assert.deepEqual([moved.answer, moved.detail], ['bun, go', 'CPU per delivery +20 %']);
  assert.match(moved.to, /^#\/trend\?.*s=bun/);
  const [, , , , trust] = await answers(page);
  assert.equal(trust.answer, `${overview.newest.valid} of ${overview.newest.trials} trials valid`);
  assert.match(trust.detail, /^noise ±[\d.]+\u00a0% delivery p95, ±[\d.]+\u00a0% CPU per delivery$/);
  await close();
});

test('what is not known is said so: no search, too few runs, no valid number', async () => {
  const { page, close } = await web.open('#/nowhere');
  await page.route('**/manifest.js*', async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace('"capacities"', '"none"').replace(/"runs":\d+/, '"runs":2');
    await route.fulfill({ response, body });
  });
  await page.route('**/overview.js*', async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/"valid":true/g, '"valid":false');
    await route.fulfill({ response, body });
  });
  await page.reload();
  await settled(page); // the page follows the address from then on
  await visit(page, '#/');
  const [best, , most, worse] = await answers(page);
  assert.deepEqual([best.answer, best.detail], ['none', 'no server is valid and within limits']);
  assert.deepEqual([most.answer, most.detail], ['not searched yet', 'pushbench capacity']);
  assert.deepEqual([worse.answer, worse.detail], ['not known yet', '2 of the 5 runs needed']);
  await close();
});
