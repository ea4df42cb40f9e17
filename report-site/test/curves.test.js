// Load curves: a line joins only points that may be joined, the limit is shown, and the page says if points are few.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browsing, settled, visit } from './browser.js';
import { addresses, read } from './pages.js';
import { small } from './sites.js';

const web = browsing(small);

/** The newest run, its file, and a page whose copy of that file is changed before it is read. */
async function opened(change = () => {}) {
  const { page, complaints, close } = await web.open();
  const id = (await addresses(page)).run.slice('#/run/'.length);
  const run = await read(page, `runs/${id}`);
  change(run);
  await page.route(`**/runs/${id}.js*`, (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      body: `pushbenchData('runs/${id}',${JSON.stringify(JSON.stringify(run))})\n`,
    }),
  );
  return { page, complaints, close, id, run };
}

const curve = (page, title = ' against ') => page.locator('figure.chart').filter({ hasText: title }).first();

/** Rows of a chart's table, the least load first: the load, then a value for each server. */
async function points(chart) {
  await chart.locator('details.data').evaluate((each) => {
    each.open = true;
  });
  await chart.locator('tbody tr').first().waitFor();
  const rows = await chart
    .locator('tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.innerText)));
  const servers = (await chart.locator('thead th').allInnerTexts()).slice(1);
  return { servers, rows: rows.reverse() };
}

const shownLoads = ({ rows }) => rows.map(([load]) => load);

/** The texts drawn on charts while an address is visited. */
async function written(page, hash) {
  await page.evaluate(() => {
    const { fillText } = CanvasRenderingContext2D.prototype;
    window.written = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
      window.written.push(text);
      fillText.call(this, text, ...where);
    };
  });
  await visit(page, hash);
  return page.evaluate(() => window.written);
}

test('the servers of a run stand against its loads, in the metric that is chosen', async () => {
  const { page, complaints, close, id, run } = await opened();
  await visit(page, `#/compare?run=${id}`);
  const chart = curve(page);
  assert.match(await chart.locator('figcaption').innerText(), /^Delivery p95 against clients/);
  const shown = await points(chart);
  assert.deepEqual(shownLoads(shown), ['100', '500', '1,000']);
  const valid = run.servers.filter((each) => each.valid);
  for (const { server: name, stages } of valid) {
    const column = shown.rows.map((row) => Number.parseFloat(row[1 + shown.servers.indexOf(name)]));
    stages.forEach((stage, index) => {
      const [value] = stage.metrics['delivery_seconds.p95'];
      const scales = [1e3, 1e6, 1].map((each) => Math.abs(column[index] - value * each) / (value * each));
      assert.ok(Math.min(...scales) < 0.06, `${name} ${stage.name}: ${column[index]} for ${value}`);
    });
  }
  await page
    .locator('fieldset:has(> legend:text-is("Metric"))')
    .getByRole('link', { name: 'Loss', exact: true })
    .click();
  await page.waitForTimeout(30);
  await settled(page);
  assert.match(page.url(), /curve=loss_ratio/);
  assert.match(await curve(page).locator('figcaption').innerText(), /^Loss against clients/);
  assert.match(await page.locator('main').innerText(), /Only 3 loads were measured, and nothing between them/);
  assert.deepEqual(complaints, []);
  await close();
});

test('the limit of the suite is drawn where it is near, and told where it is not', async () => {
  const { page, close, id } = await opened((run) => {
    for (const each of run.servers) for (const stage of each.stages) stage.metrics['delivery_seconds.p95'] = [0.1];
  });
  const { suites } = await read(page, 'manifest');
  const { value } = suites.whiteboard.limits.find((each) => each.metric === 'delivery_seconds.p95');
  assert.ok((await written(page, `#/compare?run=${id}`)).includes(`limit ${value * 1e3} ms`));
  assert.doesNotMatch(await curve(page).locator('figcaption').innerText(), /limit/);
  await close();
  const far = await opened((run) => {
    for (const each of run.servers) for (const stage of each.stages) stage.metrics['delivery_seconds.p95'] = [1e-6];
  });
  assert.ok(!(await written(far.page, `#/compare?run=${far.id}`)).some((text) => String(text).startsWith('limit')));
  assert.match(await curve(far.page).locator('figcaption').innerText(), /; the limit is \d+ ms$/);
  await far.close();
});

test('stages of other conditions are a curve of their own, and an outage is none', async () => {
  const { page, close, id } = await opened((run) => {
    const [first, second] = run.schedule.stages;
    run.schedule.stages = [
      first,
      second,
      { ...second, name: 'closed-500', closed: true },
      { ...second, name: 'closed-700', clients: 700, closed: true },
      { ...second, name: 'crowded', parameters: { board_size: 100 } },
      { ...second, name: 'killed', outage: { kill: 'server' } },
    ];
    for (const each of run.servers) {
      const [stage] = each.stages;
      each.stages.push(...['closed-500', 'closed-700', 'crowded', 'killed'].map((name) => ({ ...stage, name })));
    }
  });
  await visit(page, `#/compare?run=${id}`);
  assert.deepEqual(shownLoads(await points(curve(page))), ['100', '500']);
  const kinds = page.locator('fieldset:has(> legend:text-is("Load")) a');
  assert.deepEqual(await kinds.allInnerTexts(), ['clients', 'clients, closed']);
  await kinds.last().click();
  await page.waitForTimeout(30);
  await settled(page);
  assert.deepEqual(shownLoads(await points(curve(page))), ['500', '700']);
  await close();
});

test('a suite whose load is a rate has the rate on the axis', async () => {
  const { page, close, id } = await opened((run) => {
    run.schedule.stages.forEach((stage, index) => {
      Object.assign(stage, { clients: 500, parameters: { strokes_per_second: 100 * (index + 1) } });
    });
  });
  await page.route('**/manifest.js*', async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replaceAll('"load":"clients"', '"load":"strokes_per_second"');
    await route.fulfill({ response, body });
  });
  await page.reload();
  await settled(page);
  await visit(page, `#/compare?run=${id}`);
  assert.match(await curve(page).locator('figcaption').innerText(), /against messages\/s/);
  assert.deepEqual(shownLoads(await points(curve(page))), ['100', '200', '300']);
  await close();
});

test('what is not valid is no point, and one load is no curve', async () => {
  const { page, close, id, run } = await opened((changed) => {
    changed.servers[0].stages[1].believed = false;
  });
  await visit(page, `#/compare?run=${id}`);
  const shown = await points(curve(page));
  const column = 1 + shown.servers.indexOf(run.servers[0].server);
  assert.deepEqual(
    shown.rows.map((row) => row[column] === 'invalid'),
    [false, true, false],
  );
  await close();
  const single = await opened((changed) => {
    changed.schedule.stages.splice(1);
  });
  await visit(single.page, `#/compare?run=${single.id}`);
  assert.equal(await curve(single.page).count(), 0);
  assert.match(
    await single.page.locator('main').innerText(),
    /This run has one load, 100 clients: a curve needs several/,
  );
  await single.close();
});

test('a server has its curves on its own page and in its run, also where only medians were kept', async () => {
  const { page, complaints, close } = await web.open();
  const known = await addresses(page);
  for (const hash of [known.server, known.run, known['run-medians']]) {
    await visit(page, hash);
    const titles = await page.locator('.stack figcaption').allInnerTexts();
    const against = titles.flatMap((title) => (/ against clients/.test(title) ? [title.split(' against')[0]] : []));
    assert.deepEqual(
      against.filter((title) => !title.includes('in the search')),
      ['Delivery p95', 'Loss', 'CPU per delivery', 'CPU'],
      hash,
    );
  }
  assert.deepEqual(complaints, []);
  await close();
});
