// The pictures of a server for other pages, with the Markdown that shows them there.

import { part } from '../data/load';
import { inertMarkdown } from '../exporting';
import { Command } from '../parts/about-run';
import { href } from '../route';

const ABOUT: Record<string, string> = {
  p95: 'latency over its runs',
  cpu: 'CPU over its runs',
  load: 'latency against load',
};

/** size of the pictures, as in bench/pushbench/reporting/pictures.py */
const [WIDTH, HEIGHT] = [640, 266];

export function Embed({ id, names }: { id: string; names: string[] }) {
  return (
    <section aria-labelledby="embed">
      <h2 id="embed">Show it in your README</h2>
      <p>Each new run redraws these pictures at the same address. They have a light and a dark theme and no script.</p>
      <div class="stack">
        {names.map((name) => {
          const about = `${id}: ${ABOUT[name] ?? name}`;
          const file = `charts/${part(id.replaceAll('/', '--'))}-${name}.svg`;
          return (
            <div key={name} class="embed">
              <img src={file} alt={about} width={WIDTH} height={HEIGHT} loading="lazy" />
              <Command command={markdown(about, file, id)} />
            </div>
          );
        })}
      </div>
    </section>
  );
}

function markdown(about: string, file: string, id: string): string {
  const page = href('server', { theme: null }, id).replace(/[()]/g, (each) => (each === '(' ? '%28' : '%29'));
  return `[![${inertMarkdown(about)}](${site()}${file})](${site()}${page})`;
}

/** The address of the published site, which a copy on a disk does not contain. */
function site(): string {
  if (!/^https?:$/.test(location.protocol)) return 'https://example.org/';
  return location.href.replace(/[?#].*$/, '').replace(/[^/]*$/, '');
}
