// Tables are sorted by any column, each column has one unit, and a choice of theme is remembered.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browsing, serve, settled, visit } from './browser.js';
import { read } from './pages.js';
import { small, suites } from './sites.js';

/** rows of a long table until a reader asks for all */
const SHOWN = 60;

const web = browsing(small);

/** The texts of a column, without the text below a number. */
async function column(page, title) {
  const titles = (await page.locator('main thead').first().locator('th').allInnerTexts()).map((each) =>
    each.replace(/\s+/g, ' ').replace(/ [\u2191\u2193]$/, ''),
  );
  const at = titles.indexOf(title);
  assert.ok(at >= 0, `${title}: ${titles}`);
  const cells = page
    .locator('main tbody')
    .first()
    .locator(`tr > :nth-child(${at + 1})`);
  return (await cells.allInnerTexts()).map((each) => each.trim().split('\n')[0]);
}

async function sortBy(page, title) {
  await page.locator('main thead').first().getByRole('link', { name: title, exact: true }).click();
  await page.waitForTimeout(30);
  await settled(page);
}

for (const [hash, title] of [
  ['#/compare', 'Delivery p95'],
  ['#/compare?by=metric', '500 clients'],
  ['#/runs', 'Valid trials'],
]) {
  test(`${hash} is sorted by ${title}, in both directions`, async () => {
    const { page, complaints, close } = await web.open(hash);
    const before = await column(page, title);
    await sortBy(page, title);
    const up = await column(page, title);
    const numbers = up.map(Number.parseFloat);
    assert.deepEqual(
      numbers,
      [...numbers].sort((a, b) => a - b),
    );
    if (before.length < SHOWN) assert.deepEqual([...up].sort(), [...before].sort());
    assert.equal(await page.locator('main th[aria-sort]').getAttribute('aria-sort'), 'ascending');
    await page.locator('main th[aria-sort] a').click();
    await page.waitForTimeout(30);
    await settled(page);
    const down = (await column(page, title)).map(Number.parseFloat);
    assert.deepEqual(
      down,
      [...down].sort((a, b) => b - a),
    );
    assert.ok(down[0] >= numbers.at(-1) && numbers[0] < down[0]);
    assert.match(page.url(), /sort=-/);
    assert.deepEqual(complaints, []);
    await close();
  });
}

test('the ticks of an axis have one unit, zero too', async () => {
  const { page, close } = await web.open();
  await page.evaluate(() => {
    const { fillText } = CanvasRenderingContext2D.prototype;
    window.written = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
      window.written.push(text);
      fillText.call(this, text, ...where);
    };
  });
  await visit(page, '#/trend?metric=cpu_seconds_per_delivery');
  const written = await page.evaluate(() => window.written);
  const ticks = written.filter((text) => / (s|ms|\u00b5s)$/.test(text));
  assert.ok(ticks.length > 3 && ticks.every((text) => text.endsWith(' \u00b5s')), String(written));
  for (const name of ['go', 'bun']) assert.ok(written.includes(name), `the line of ${name} has no name at its end`);
  await close();
});

test('the values of a column have one unit, however different they are', async () => {
  const { page, close } = await web.open();
  const { combinations, runs } = await read(page, 'manifest');
  const run = runs.find((each) => each.environment === combinations[0].environment && each.whole && !each.comparison);
  await page.route(`**/runs/${run.id}.js*`, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/("delivery_seconds\.p95":\[)[\d.e-]+/g, numbered());
    await route.fulfill({ response, body });
  });
  await visit(page, `#/compare?run=${run.id}`);
  const texts = await column(page, 'Delivery p95');
  assert.ok(texts.length > 3 && texts.every((each) => / ms$/.test(each)), String(texts));
  assert.ok(texts.some((each) => Number.parseFloat(each) < 0.1));
  await close();
});

/** Replaces the numbers of each server, three stages each, by one of these: microseconds beside milliseconds. */
function numbered() {
  let next = 0;
  return (_, before) => `${before}${[98.5e-6, 0.00022, 0.0031][Math.floor(next++ / 3) % 3]}`;
}

test('a theme that was chosen holds for the next visit, and an address that names one goes first', async () => {
  const { page, close } = await web.open('#/runs', { colorScheme: 'light' });
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), 'light');
  await page.getByRole('link', { name: 'Dark', exact: true }).click();
  for (const [hash, expected] of [
    ['#/method', 'dark'],
    ['#/method?theme=light', 'light'],
    ['#/method', 'dark'],
  ]) {
    await page.goto('about:blank');
    await page.goto(`${web.server.url}${hash}`);
    await settled(page);
    assert.equal(await theme(), expected, hash);
  }
  await close();
});

test('suites keep their own columns when they are sorted', async () => {
  const other = await serve(suites);
  const { page, complaints, close } = await web.open(`${other.url}#/runs?sort=-suite`);
  const [first] = await column(page, 'Suite');
  await visit(page, '#/runs?sort=suite');
  assert.notEqual((await column(page, 'Suite'))[0], first);
  assert.deepEqual(complaints, []);
  await close();
  await other.close();
});
