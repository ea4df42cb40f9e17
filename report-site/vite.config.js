// One classic script and one style sheet: a page that was opened from a disk may load those, but no modules.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Plain names, so that nothing piles up beside years of data; the page asks for them by their digest. */
function plainAssets() {
  let out = '';
  return {
    name: 'plain-assets',
    configResolved(config) {
      out = config.build.outDir;
    },
    closeBundle() {
      const page = join(out, 'index.html');
      const digest = (file) =>
        createHash('sha256')
          .update(readFileSync(join(out, file)))
          .digest('hex')
          .slice(0, 10);
      const html = readFileSync(page, 'utf8')
        .replace(/ type="module"/g, ' defer')
        .replace(/ crossorigin/g, '')
        .replace(/\.\/(assets\/[a-z.]+)"/g, (_, file) => `${file}?v=${digest(file)}"`);
      writeFileSync(page, html);
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
      output: { format: 'iife', entryFileNames: 'assets/app.js', assetFileNames: 'assets/app[extname]' },
    },
  },
  plugins: [plainAssets()],
});
