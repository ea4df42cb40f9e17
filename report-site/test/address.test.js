// The address is the page's state: a reload, a copy and the back button show what was there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browsing, settled, visit } from './browser.js';
import { addresses } from './pages.js';
import { small } from './sites.js';

const web = browsing(small);

/** The visible state that the address must contain. */
function seen(page) {
  return page.evaluate(() => ({
    text: document.querySelector('main').innerText,
    chosen: [...document.querySelectorAll('select')].map((each) => each.value),
    current: [...document.querySelectorAll('[aria-current]')].map((each) => each.textContent),
    pressed: [...document.querySelectorAll('[aria-pressed]')].map((each) => each.ariaPressed),
    theme: document.documentElement.dataset.theme,
  }));
}

test('a copied address and a reload show the same', async () => {
  const { page, close } = await web.open();
  const wanted = Object.values(await addresses(page));
  const [run] = wanted.filter((hash) => hash.startsWith('#/run/'));
  const choices = [
    '#/?sort=-cpu_seconds_per_delivery&theme=dark&all=1',
    '#/trend?metric=delivery_seconds.p95&stage=100&x=time&y=log&hide=bun&range=3-20&theme=dark',
    `${run}?server=fastapi&kind=echo&hide=100`,
    '#/compare?by=metric&metric=delivery_seconds.p99&hide=actix',
    '#/compare?of=runs&server=bun&stage=500&only=1&kind=fanout',
  ];
  const copy = await web.open();
  for (const hash of [...wanted, ...choices]) {
    await visit(page, hash);
    const before = await seen(page);
    await copy.page.goto('about:blank'); // so that the address is loaded, not only changed
    await copy.page.goto(`${web.server.url}${hash}`);
    await settled(copy.page);
    assert.deepEqual(await seen(copy.page), before, hash);
    if (choices.includes(hash)) {
      await copy.page.reload();
      await settled(copy.page);
      assert.deepEqual(await seen(copy.page), before, hash);
    }
  }
  assert.deepEqual(copy.complaints, []);
  await copy.close();
  await close();
});

test('each step has an address, and back undoes it', async () => {
  const { page, close } = await web.open('#/trend');
  const steps = [
    () => page.locator('.legend button[aria-pressed]').first().click(),
    () => page.getByLabel('Only bun').click(),
    () => page.getByLabel('Metric').selectOption('delivery_seconds.p95'),
    () => page.getByRole('link', { name: 'logarithmic' }).click(),
    () => drag(page, 0.3, 0.7),
    () => page.locator('.u-over').click({ position: { x: 200, y: 60 } }),
    () => page.getByRole('link', { name: 'Dark', exact: true }).click(),
  ];
  const before = [];
  for (const step of steps) {
    before.push({ url: page.url(), seen: await seen(page) });
    await step();
    await page.waitForFunction((url) => location.href !== url, before.at(-1).url);
    await page.waitForTimeout(30);
    await settled(page);
  }
  assert.match(page.url(), /range=\d+-\d+/);
  assert.match(page.url(), /pin=/);
  for (const expected of before.reverse()) {
    await page.goBack();
    await page.waitForTimeout(30);
    await settled(page);
    assert.equal(page.url(), expected.url);
    assert.deepEqual(await seen(page), expected.seen);
  }
  await close();
});

test('a pinned run leads to the run, its commit and a comparison', async () => {
  const { page, close } = await web.open('#/trend');
  await page.locator('.canvas').focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const pinned = page.getByLabel('Pinned run');
  await pinned.waitFor();
  assert.match(
    await pinned.locator('a:has(code)').getAttribute('href'),
    /^https:\/\/github\.com\/example\/pushbench\/commit\/[0-9a-f]{12}$/,
  );
  await pinned.getByRole('link', { name: 'compare with the run before' }).click();
  await page.getByRole('heading', { name: 'Compare' }).waitFor();
  assert.match(page.url(), /of=runs/);
  await close();
});

async function drag(page, from, to) {
  const box = await page.locator('.u-over').boundingBox();
  await page.mouse.move(box.x + box.width * from, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, box.y + 60, { steps: 4 });
  await page.mouse.up();
}
