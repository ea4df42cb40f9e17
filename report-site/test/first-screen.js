// What is seen of a site without scrolling, for the documentation: `node test/first-screen.js SITE FOLDER NAME VIEW...`
// writes NAME-VIEW.png for each view.

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, open } from './browser.js';
import { VIEWS } from './views.js';

const [site, folder, name, ...views] = process.argv.slice(2);
const browser = await launch();
for (const view of views) {
  const address = pathToFileURL(resolve(site, 'index.html')).href;
  const { page, complaints, close } = await open(browser, address, VIEWS[view].options);
  await page.screenshot({ path: join(folder, `${name}-${view}.png`) });
  for (const complaint of complaints) console.error(`${view}: ${complaint}`);
  if (complaints.length) process.exitCode = 1;
  await close();
}
await browser.close();
console.log(`${name} in ${folder}`);
