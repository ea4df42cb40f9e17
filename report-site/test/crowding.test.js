// Many marks above a trend: badges stand beside each other, and none is left out.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { browsing, visit } from './browser.js';
import { marksOf } from './pages.js';
import { large, small } from './sites.js';

const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

const web = browsing();

for (const [look, options] of Object.entries({ wide: {}, phone: PHONE })) {
  test(`badges do not overlap and count what they stand for: ${look}`, async () => {
    for (const site of [small, large]) {
      const { page, close } = await web.open(pathToFileURL(join(site, 'index.html')).href, options);
      const { newest, marks } = await marksOf(page);
      for (const query of ['s=go', `s=go&range=0-${newest.runs - 1}`, `s=go&x=time&range=0-${newest.runs - 1}`]) {
        await visit(page, `#/trend?${query}`);
        const found = await page.locator('.badges li').evaluateAll((all) =>
          all.map((each) => {
            const { left, right, height } = each.getBoundingClientRect();
            const button = each.querySelector('button');
            return { left, right, height, text: each.textContent, cut: button.scrollWidth > button.clientWidth };
          }),
        );
        const whole = await page.locator('.canvas').boundingBox();
        const shown = marks.filter((mark) => query.includes('range') || mark.at >= newest.windows.at(-1).from);
        const counted = found.reduce((sum, { text }) => sum + count(text), 0);
        assert.equal(counted, shown.length, `${query}: ${found.map(({ text }) => text)}`);
        found.forEach((badge, number) => {
          assert.ok(badge.left >= (found[number - 1]?.right ?? whole.x - 1), `${query}: ${badge.text} overlaps`);
          assert.ok(badge.right <= whole.x + whole.width + 1, `${query}: ${badge.text} is outside`);
          assert.ok(badge.height >= 24 && !badge.cut, `${query}: ${badge.text} is cut`);
        });
      }
      await close();
    }
  });
}

/** The number of marks that a badge names: `v1.2.0`, `3 releases`, `2 environments, 5 others`. */
function count(text) {
  const [own, more = '0'] = text.split(', ');
  return (/^\d+ /.test(own) ? Number.parseInt(own, 10) : 1) + Number.parseInt(more, 10);
}
