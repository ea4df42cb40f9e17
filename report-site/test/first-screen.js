// What the README shows, the first screen in light and dark: `node test/first-screen.js SITE FOLDER`.

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, open } from './browser.js';

const [site, folder] = process.argv.slice(2);
const browser = await launch();
for (const colorScheme of ['light', 'dark']) {
  const options = { viewport: { width: 1280, height: 720 }, colorScheme };
  const { page, complaints, close } = await open(browser, pathToFileURL(resolve(site, 'index.html')).href, options);
  await page.screenshot({ path: join(folder, `site-${colorScheme}.png`) });
  for (const complaint of complaints) console.error(`${colorScheme}: ${complaint}`);
  if (complaints.length) process.exitCode = 1;
  await close();
}
await browser.close();
console.log(`the README's pictures in ${folder}`);
