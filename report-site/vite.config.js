// Classic scripts and one style sheet: a page that was opened from a disk may load those, but no modules.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';
import { classicScript } from './classic-scripts.js';

/**
 * Plain names, so that nothing piles up beside years of data; the page requests them with the digest of all of them.
 */
function plainAssets() {
  let out = '';
  return {
    name: 'plain-assets',
    configResolved(config) {
      out = config.build.outDir;
    },
    writeBundle() {
      const page = join(out, 'index.html');
      const digest = createHash('sha256');
      const names = readdirSync(join(out, 'assets')).sort();
      for (const name of names) digest.update(readFileSync(join(out, 'assets', name)));
      const version = digest.digest('hex').slice(0, 10);
      const html = readFileSync(page, 'utf8')
        .replace(/ type="module"/g, ' defer')
        .replace(/ crossorigin/g, '')
        .replace(/\.\/(assets\/[a-z.]+)"/g, (_, file) => `${file}?v=${version}"`);
      writeFileSync(page, html);
    },
  };
}

/** Each page's code is a script of its own, which is loaded when the page is opened. */
function classicScripts() {
  return {
    name: 'classic-scripts',
    enforce: 'pre',
    // Vite wraps each import() to load its style sheets first; these pages share one style sheet.
    load(id) {
      return id.endsWith('vite/preload-helper.js') ? 'export const __vitePreload = (load) => load();' : undefined;
    },
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === 'chunk') chunk.code = classicScript(chunk, (code) => this.parse(code));
      }
    },
  };
}

export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        format: 'es',
        entryFileNames: 'assets/app.js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: 'assets/app[extname]',
      },
    },
  },
  plugins: [classicScripts(), plainAssets()],
});
