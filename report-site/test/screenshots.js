// Pictures of every page, for people: light, wide, dark and as on a phone: `node test/screenshots.js SITE FOLDER`.

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, open, visit } from './browser.js';
import { addresses } from './pages.js';

const [site, folder] = process.argv.slice(2);
const LOOKS = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  wide: { viewport: { width: 1920, height: 1080 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  phone: {
    viewport: { width: 360, height: 740 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
    colorScheme: 'light',
  },
};

mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const [look, options] of Object.entries(LOOKS)) {
  const { page, complaints, close } = await open(browser, pathToFileURL(resolve(site, 'index.html')).href, options);
  for (const [name, hash] of Object.entries(await addresses(page))) {
    await visit(page, hash);
    await page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage: true });
  }
  for (const complaint of complaints) console.error(`${look}: ${complaint}`);
  if (complaints.length) process.exitCode = 1;
  await close();
}
await browser.close();
console.log(`pictures in ${folder}`);
