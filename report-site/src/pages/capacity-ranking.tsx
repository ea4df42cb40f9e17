// Servers by what they carry within the limits of their suite, those whose intervals overlap together.

import type { ComponentChildren } from 'preact';
import {
  BINDS,
  type CapacitySeries,
  type Carrier,
  capacityText,
  intervalText,
  loadCapacities,
  rankCapacities,
} from '../data/capacity';
import { useLoaded } from '../data/load';
import { isWanted } from '../data/ranking';
import type { Manifest, Words } from '../data/types';
import { loadUnit } from '../data/words';
import { ServerLink, Shown, serverTitle } from '../parts/page';
import { Swatch } from '../parts/swatch';
import { href } from '../route';
import { serverStroke } from '../theme';
import { formatDay } from '../units';

export interface CapacityProps {
  manifest: Manifest;
  query: URLSearchParams;
  words: Words;
  series: CapacitySeries;
  controls: ComponentChildren;
}

export function CapacityRanking({ manifest, query, words, series, controls }: CapacityProps) {
  const loaded = useLoaded(series.id, () => loadCapacities(series));
  const unit = loadUnit(words, series.searched);
  return (
    <section aria-labelledby="ranking" class="ranking capacity">
      <h2 id="ranking">Most {unit} within the limits</h2>
      {controls}
      <Shown loaded={loaded}>
        {(capacities) => {
          const { ranked, apart } = rankCapacities(capacities, (server) => isWanted(manifest, server, query));
          return (
            <>
              <ol>
                {ranked.map((each, index) => (
                  <Place
                    key={each.server}
                    manifest={manifest}
                    each={each}
                    unit={unit}
                    shared={ranked.some((other) => other !== each && other.place === each.place)}
                    begins={each.place !== ranked[index - 1]?.place}
                  />
                ))}
              </ol>
              {ranked.length === 0 && <p class="empty">No server has a number here.</p>}
              {apart.length > 0 && (
                <div class="apart">
                  <h3>Not ranked</h3>
                  <ul>
                    {apart.map(({ server, capacity }) => (
                      <li key={server}>
                        <Swatch stroke={serverStroke(manifest.looks, server)} /> <ServerLink server={server} />:{' '}
                        {capacityText(capacity, unit)}; {capacity.reason}
                      </li>
                    ))}
                  </ul>
                </div>
              )}
            </>
          );
        }}
      </Shown>
      <p class="aside">
        By <code>pushbench capacity</code>, last on {formatDay(series.created)}. Servers share a place where their
        intervals overlap: from the least that a fresh start carried to the most that one refused. Bars are shares of
        the most.
      </p>
    </section>
  );
}

interface PlaceProps {
  manifest: Manifest;
  each: Carrier;
  unit: string;
  shared: boolean;
  begins: boolean;
}

function Place({ manifest, each: { server, capacity, place, share }, unit, shared, begins }: PlaceProps) {
  const stroke = serverStroke(manifest.looks, server);
  const interval = intervalText(capacity);
  const binds = capacity.binding && BINDS[capacity.binding.resource];
  return (
    <li class={begins ? 'begins' : undefined} value={place}>
      <span class="place" title={shared ? 'These servers cannot be told apart' : undefined}>
        {place}
        {shared ? '=' : ''}
      </span>
      <span class="server">
        <Swatch stroke={stroke} />
        <ServerLink server={server} />
        <span class="about">{serverTitle(manifest, server)}</span>
      </span>
      <span class={`bar ${stroke.colour}`} aria-hidden="true">
        <span style={{ width: `${(share * 100).toFixed(1)}%` }} />
      </span>
      <span class="value">{capacityText(capacity, unit)}</span>
      <span class="times">{interval}</span>
      <span class="verdict">
        <a href={href('server', {}, server)} title={capacity.binding?.sentence ?? capacity.reason}>
          {binds ? `binds: ${binds}` : capacity.reason.replace(/:.*/s, '')}
        </a>
      </span>
    </li>
  );
}
