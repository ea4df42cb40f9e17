// Every page is readable: for every user, on a phone, in light and dark, and without words such as `undefined`.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { browsing, missing, serve, settled, unfold, visit } from './browser.js';
import { addresses, read } from './pages.js';
import { empty, hostile, small } from './sites.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

const web = browsing(small);

/** Opens every page of a site, or those whose names begin with `prefix`, in one browser page. */
async function everyPage(site, options, look, prefix = '') {
  const server = await serve(site);
  const { page, complaints, close } = await web.open(server.url, options);
  for (const [name, hash] of Object.entries(await addresses(page))) {
    if (!name.startsWith(prefix)) continue;
    await visit(page, hash);
    await look(page, name);
  }
  assert.deepEqual(complaints, []);
  assert.deepEqual(missing(server), []);
  await close();
  await server.close();
}

/** The dark pages differ from the light ones in their colours alone. */
const RULES = { light: {}, dark: { runOnly: ['color-contrast'] } };
/** The rows of a table are alike, and some tables have one for each second: the first four of each stay. */
async function shorten(page) {
  await page.evaluate(() => {
    for (const row of document.querySelectorAll('tbody tr:nth-child(n + 5)')) row.remove();
  });
}

async function seriousViolations(page, rules) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  return page.evaluate(
    async (options) => {
      const { violations } = await window.axe.run(options);
      return violations
        .filter((each) => ['serious', 'critical'].includes(each.impact))
        .map(
          (each) =>
            `${each.id}: ${each.nodes
              .slice(0, 3)
              .map((node) => node.html)
              .join(' ')}`,
        );
    },
    { ...rules, resultTypes: ['violations'] },
  );
}

test('axe-core finds nothing serious, in light and in dark', async () => {
  const found = [];
  await everyPage(small, {}, async (page, name) => {
    await unfold(page);
    await shorten(page);
    for (const [colorScheme, rules] of Object.entries(RULES)) {
      await page.emulateMedia({ colorScheme });
      await settled(page);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
      const serious = await seriousViolations(page, rules);
      found.push(...serious.map((each) => `${name} in ${colorScheme}: ${each}`));
    }
  });
  assert.deepEqual(found, []);
});

test('a run whose record is here links to it, and one whose record was left out says so', async () => {
  const told = {};
  const look = async (page, name) => {
    const links = await page.locator('a[href^="records/"]').evaluateAll((all) => all.map((each) => each.href));
    for (const link of links) assert.equal((await page.request.get(link)).status(), 200, link);
    told[name] = [links.length, (await page.locator('main').innerText()).includes('newest runs only: 6.')];
  };
  await everyPage(small, {}, look, 'run');
  assert.deepEqual(told.run, [1, false]);
  assert.deepEqual(told['run-medians'], [0, true]);
});

for (const [name, site] of Object.entries({ small, hostile, empty })) {
  test(`nothing is wider than a phone, and no word is none: ${name}`, async () => {
    await everyPage(site, PHONE, async (page, at) => {
      const { width, text } = await page.evaluate(() => ({
        width: document.documentElement.scrollWidth,
        text: document.querySelector('main').innerText,
      }));
      assert.ok(width <= 360, `${at} is ${width} pixels wide`);
      assert.doesNotMatch(text, /\bundefined\b|\bNaN\b|\bInfinity\b|\[object|\bnull\b/, at);
    });
  });
}

test('charts of every page have a name, a table and a cursor for the keyboard', async () => {
  await everyPage(small, {}, async (page, name) => {
    const charts = await page.locator('figure.chart:has(.canvas)').all();
    for (const chart of charts.slice(0, 4)) {
      const canvas = chart.locator('.canvas');
      await canvas.focus();
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowRight');
      const said = await chart.locator('[aria-live]').innerText();
      assert.match(said, /: .+ \S/, `${name} says nothing at its second point`);
      await page.keyboard.press('End');
      assert.notEqual(await chart.locator('[aria-live]').innerText(), said, name);
      await chart.locator('details.data > summary').click();
      await chart.locator('tbody tr').first().waitFor();
      await chart.locator('details.data > summary').click();
    }
  });
});

test('the word for a change agrees with its interval and its margin', async () => {
  const { page, close } = await web.open('#/compare?of=runs&only=0');
  const words = new Set();
  const newest = page.getByLabel('After (B)');
  const runs = await newest.locator('option').evaluateAll((options) => options.map((each) => each.value));
  for (const run of runs.slice(0, 6)) {
    await newest.selectOption(run);
    await settled(page);
    for (const row of await page.locator('tbody tr').evaluateAll(textsOfRows)) {
      const [, , , change, interval, margin, word] = row;
      words.add(word);
      if (interval === '-' || margin.includes('at least')) continue;
      const [low, high] = interval.split(' to ').map(percent);
      assert.ok(low <= percent(change) && percent(change) <= high, row.join(' | '));
      const within = Math.max(-low, high) < percent(margin);
      const beyond = Math.abs(percent(change)) >= percent(margin) && (low > 0 || high < 0);
      assert.equal(
        word,
        within ? '= same' : beyond ? word.match(/. (worse|better)/)?.[0] : '? unknown',
        row.join(' | '),
      );
    }
  }
  assert.ok(words.size >= 2, [...words].join());
  await close();
});

test('two runs are compared server by server, the worst first, and begin with what differs', async () => {
  const { page, complaints, close } = await web.open();
  const id = (await addresses(page)).run.slice('#/run/'.length);
  const run = await read(page, `runs/${id}`);
  const times = (index, metric, factor) => {
    const { metrics } = run.servers[index].stages.at(-1);
    metrics[metric] = metrics[metric].map((each) => each * factor);
  };
  times(3, 'cpu_seconds_per_delivery', 2);
  times(3, 'delivery_seconds.p95', 20);
  times(1, 'cpu_seconds_per_delivery', 0.5);
  await page.route(`**/runs/${id}.js*`, (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      body: `pushbenchData('runs/${id}',${JSON.stringify(JSON.stringify(run))})\n`,
    }),
  );
  const told = () =>
    page.locator('section.changes').evaluateAll((all) =>
      all.map((each) => ({
        title: each.querySelector('h2').textContent.trim(),
        words: [...each.querySelectorAll('tbody tr')].map((row) => row.lastElementChild.innerText.split(' ').at(-1)),
      })),
    );
  await page.reload();
  await settled(page); // the page follows the address from then on
  await visit(page, '#/compare?of=runs');
  const [worse, better] = [3, 1].map((index) => run.servers[index].server);
  assert.deepEqual(await told(), [
    { title: `${worse}: 2 worse`, words: ['worse', 'worse'] },
    { title: `${better}: 1 better`, words: ['better'] },
  ]);
  const said = `2 of ${run.servers.length} servers differ; no difference beyond margin and noise in `;
  assert.ok((await page.locator('main').innerText()).includes(said));
  await page.locator('fieldset:has(> legend:text-is("Rows"))').getByRole('link', { name: 'all' }).click();
  await page.waitForTimeout(30);
  await settled(page);
  const all = await told();
  assert.deepEqual(
    all.map(({ title }) => title.replace(/:.*/, '')).sort(),
    run.servers.map((each) => each.server).sort(),
  );
  assert.ok(all.every(({ words }) => words.length > 3));
  assert.deepEqual(complaints, []);
  await close();
});

test('before the noise is known, nothing is hidden for want of a difference', async () => {
  const { page, close } = await web.open('#/nowhere');
  await page.route('**/overview.js*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace(/"noise":\{[^}]*\}/g, '"noise":{}') });
  });
  await visit(page, '#/compare?of=runs');
  assert.match(await page.locator('main .warning').innerText(), /The noise between runs is not known/);
  assert.ok((await page.locator('section.changes tbody tr').count()) > 6);
  await close();
});

test('a run shows loss and network by the second, and an older one that they were not recorded', async () => {
  const { page, close } = await web.open();
  const wanted = await addresses(page);
  const chart = (title) =>
    page.locator('section[aria-labelledby=timeline] figure.chart').filter({ hasText: new RegExp(`^${title}`) });
  const table = async (title) => {
    await chart(title).locator('details.data > summary').click();
    await chart(title)
      .getByRole('button', { name: /^Show all/ })
      .click();
    const rows = await chart(title).locator('tbody tr').all();
    return Promise.all(rows.map((row) => row.locator('td').allInnerTexts()));
  };
  await visit(page, wanted.run);
  const losses = (await table('Loss')).map(([loss]) => loss);
  assert.equal(losses.at(-1), '-', 'nothing was owed in the first second');
  assert.ok(losses.includes('0 %') && losses.some((loss) => /^[1-9][\d.]* %$/.test(loss)));
  const bytes = await table('Network');
  assert.deepEqual(bytes.at(-1), ['0 B/s', '0 B/s']);
  assert.match(bytes[0].join(' '), /^\d[\d.]* kB\/s \d[\d.]* MB\/s$/);
  await visit(page, wanted['run-oldest']);
  for (const title of ['Loss', 'Network']) {
    assert.equal(await chart(title).locator('.empty').innerText(), 'It was not recorded.');
  }
  assert.equal(await chart('Clients').locator('.empty').count(), 0);
  await close();
});

test('the charts of a trial share their seconds and one cursor, for the keyboard, too', async () => {
  const { page, close } = await web.open();
  await visit(page, (await addresses(page)).run);
  const first = page.locator('section[aria-labelledby=timeline] .canvas').first();
  await first.focus();
  await page.keyboard.press('Home');
  for (let second = 0; second < 42; second += 1) await page.keyboard.press('ArrowRight');
  const charts = await page.locator('section[aria-labelledby=timeline] figure.chart').allInnerTexts();
  assert.ok(charts.length >= 8, String(charts.length));
  for (const chart of charts) assert.match(chart, /\bsecond 42\b/);
  await close();
});

test('shares that are all 0 stand on an axis up to 100 %', async () => {
  const { page, close } = await web.open();
  await page.evaluate(() => {
    const { fillText } = CanvasRenderingContext2D.prototype;
    window.written = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
      window.written.push(text);
      fillText.call(this, text, ...where);
    };
  });
  await visit(page, '#/trend?metric=loss_ratio');
  const shares = (await page.evaluate(() => window.written)).filter((text) => text.endsWith(' %'));
  assert.ok(shares.includes('0 %') && shares.includes('100 %'), String(shares));
  assert.ok(
    shares.every((text) => Number.parseFloat(text) <= 100 && !text.includes(',')),
    String(shares),
  );
  await close();
});

const textsOfRows = (rows) => rows.map((row) => [...row.children].map((cell) => cell.innerText));

function percent(text) {
  return Number(text.replace(/[ %]/g, ''));
}

test('tables and charts are copied and saved', async () => {
  const { page, close } = await web.open('#/', {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const table = page.locator('.table').last();
  await table.locator('summary').click();
  const copied = async (format) => {
    await table.getByRole('button', { name: `Copy as ${format}` }).click();
    await table.locator('output').getByText(`${format} copied`).waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  assert.match(await copied('Markdown'), /^\| Server \| CPU \/ delivery over runs \|.*\n\| --- \|/);
  assert.match(await copied('CSV'), /^Server,CPU \/ delivery over runs,.*\r\n\S+/);
  const rows = JSON.parse(await copied('JSON'));
  assert.equal(typeof rows[0]['CPU / delivery'], 'number');
  const saved = page.waitForEvent('download');
  await table.getByRole('button', { name: 'Save as CSV' }).click();
  assert.equal((await saved).suggestedFilename(), 'servers.csv');
  await visit(page, '#/trend');
  for (const [button, begins] of [
    ['Save PNG', '\x89PNG'],
    ['Save SVG', '<svg'],
  ]) {
    const picture = page.waitForEvent('download');
    await page.getByRole('button', { name: button }).click();
    const content = readFileSync(await (await picture).path(), 'latin1');
    assert.ok(content.startsWith(begins) && content.length > 1_000, button);
    assert.doesNotMatch(content.slice(0, 200_000), button === 'Save SVG' ? /NaN|undefined/ : /^$/);
  }
  await close();
});
