// A server is drawn the same on every page, and no two of a chart alike.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browsing, visit } from './browser.js';
import { suites } from './sites.js';

const web = browsing(suites);

/** The swatches of a page by the name beside them: the class determines the colour, the paths dash and marker. */
function swatches(page, name) {
  return page.locator(`${name}:has(> .swatch)`).evaluateAll((all) =>
    all.map((each) => {
      const swatch = each.querySelector('.swatch');
      return [each.textContent.trim(), `${getComputedStyle(swatch).color} ${swatch.innerHTML}`];
    }),
  );
}

test('a server has one look on all pages, whichever servers are shown, and no other has it', async () => {
  const { page, complaints, close } = await web.open();
  const seen = new Map();
  for (const [hash, name] of [
    ['#/trend', '.legend button'],
    ['#/trend?s=node-ws', '.legend button'],
    ['#/compare', '.legend button'],
  ]) {
    await visit(page, hash);
    const found = await swatches(page, name);
    assert.ok(found.length > 3, `${hash}: ${found.length}`);
    for (const [label, look] of found) {
      assert.equal(look, seen.get(label) ?? look, `${hash}: ${label}`);
      seen.set(label, look);
    }
  }
  assert.equal(new Set(seen.values()).size, seen.size, JSON.stringify([...seen]));
  assert.deepEqual(complaints, []);
  await close();
});
