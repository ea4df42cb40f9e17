// What the tests and the screenshots need: Debian's Chromium (its headless shell if there is one, which draws no window
// around each page and takes a third less CPU), a web server for a folder, and the complaints of a page.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { after, before } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.xml': 'application/atom+xml',
  '.svg': 'image/svg+xml',
};

export function launch() {
  const names = ['chromium-headless-shell', 'chromium', 'google-chrome'];
  const found = [process.env.CHROMIUM, ...names.map((name) => `/usr/bin/${name}`)].find(
    (path) => path && existsSync(path),
  );
  if (!found) throw new Error('no Chromium: install it (on Debian: apt install chromium), or name it in CHROMIUM');
  return chromium.launch({ executablePath: found, args: ['--no-sandbox', '--font-render-hinting=none'] });
}

/**
 * Serves `folder` below `prefix`, compressed as Pages does it. `requests` has path and bytes on the wire of each
 * answer.
 */
export async function serve(folder, prefix = '/') {
  const requests = [];
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    try {
      if (!path.startsWith(prefix)) throw new Error('elsewhere');
      const file = join(folder, normalize(path.slice(prefix.length)) || '.', path.endsWith('/') ? 'index.html' : '');
      const content = gzipSync(await readFile(file));
      requests.push({ path: path.slice(prefix.length), bytes: content.length });
      response
        .writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain', 'content-encoding': 'gzip' })
        .end(content);
    } catch {
      requests.push({ path, bytes: 0 });
      response.writeHead(404).end('not found');
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}${prefix}`,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

let shared;
let borrowers = 0;

/** The browser of this process, started for the first borrower and ended when no borrower is left. */
function borrow() {
  borrowers += 1;
  shared ??= launch();
  return shared;
}

async function giveBack() {
  borrowers -= 1;
  if (borrowers) return;
  const browser = await shared;
  shared = undefined;
  await browser.close();
}

/**
 * A browser for the tests of a file, and a server of `folder`, if it is given. Checks that every file that pages
 * request is there.
 */
export function browsing(folder) {
  let browser;
  let server;
  let begun;
  const begin = async () => {
    browser = await borrow();
    if (folder) server = await serve(folder);
  };
  const ready = () => {
    begun ??= begin();
    return begun;
  };
  before(ready);
  after(async () => {
    await giveBack();
    server?.close();
    if (server) assert.deepEqual(missing(server), []);
  });
  return {
    get browser() {
      return browser;
    },
    get server() {
      return server;
    },
    /** A page of the folder, or of another address. */
    async open(address = '', options = {}) {
      await ready(); // a file's own `before` does not wait for this one
      return open(browser, new URL(address, server?.url).href, options);
    },
  };
}

/** The requests of pages that a server could not answer. */
export function missing(server) {
  return server.requests.filter((each) => each.bytes === 0).map((each) => each.path);
}

/** A page that notes everything that should not happen: errors, violated policies, requests to other origins. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const complaints = [];
  const origin = new URL(url).protocol === 'file:' ? 'file://' : new URL(url).origin;
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => message.type() === 'error' && complaints.push(`console: ${message.text()}`));
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin))
      complaints.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  await settled(page);
  return { page, complaints, close: () => context.close() };
}

/** Waits until everything that a page requested is there, and drawn. */
export async function settled(page) {
  await page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('[aria-busy]'));
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

export async function visit(page, hash) {
  await page.evaluate(
    (wanted) =>
      new Promise((resolve) => {
        const before = location.href;
        // By the next task the page has begun to follow: content that it waits for is marked `aria-busy`.
        addEventListener('hashchange', () => setTimeout(resolve), { once: true });
        location.hash = wanted;
        if (location.href === before) resolve();
      }),
    hash,
  );
  await settled(page).catch(async (error) => {
    throw new Error(`${hash}: ${await page.locator('body').innerText()}`, { cause: error });
  });
}

/** Unfolds everything that can be unfolded. */
export async function unfold(page) {
  await page.evaluate(() => {
    for (const each of document.querySelectorAll('details')) each.open = true;
  });
  await page.waitForTimeout(20);
}
