// Pictures of every page in every view, or in some, for people: `node test/screenshots.js SITE FOLDER [VIEW...]`.

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, open, visit } from './browser.js';
import { addresses } from './pages.js';
import { VIEWS } from './views.js';

const [site, folder, ...views] = process.argv.slice(2);

mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const view of views.length ? views : Object.keys(VIEWS)) {
  const { options, prepare } = VIEWS[view];
  const { page, complaints, close } = await open(browser, pathToFileURL(resolve(site, 'index.html')).href, options);
  await prepare?.(page);
  await page.screenshot({ path: join(folder, `first-screen-${view}.png`) });
  for (const [name, hash] of Object.entries(await addresses(page))) {
    await visit(page, hash);
    await page.screenshot({ path: join(folder, `${name}-${view}.png`), fullPage: true });
  }
  for (const complaint of complaints) console.error(`${view}: ${complaint}`);
  if (complaints.length) process.exitCode = 1;
  await close();
}
await browser.close();
console.log(`pictures in ${folder}`);
