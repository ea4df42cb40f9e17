// Servers by their capacities within the limits of their suite: all of them, or the best. Servers whose intervals
// overlap share a place.

import type { ComponentChildren } from 'preact';
import {
  BINDS,
  type Capacity,
  type CapacitySeries,
  capacityText,
  intervalText,
  loadCapacities,
  mayCarryMore,
  rankCapacities,
} from '../data/capacity';
import { useLoaded } from '../data/load';
import { isWanted } from '../data/ranking';
import type { Manifest, Words } from '../data/types';
import { loadUnit } from '../data/words';
import { Shown } from '../parts/page';
import { Place, Unranked } from '../parts/places';
import { href } from '../route';
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
                {ranked.map(({ server, capacity, share }, index) => (
                  <Place
                    key={server}
                    {...{ manifest, server, index, share }}
                    places={ranked.map((each) => each.place)}
                    value={capacityText(capacity, unit)}
                    beside={intervalText(capacity)}
                  >
                    <Bound server={server} capacity={capacity} />
                  </Place>
                ))}
              </ol>
              {ranked.length === 0 && <p class="empty">No server has a number here.</p>}
              <Unranked
                manifest={manifest}
                servers={apart.map(({ server, capacity }) => ({
                  server,
                  why: `: ${capacityText(capacity, unit)}; ${capacity.reason}`,
                }))}
              />
            </>
          );
        }}
      </Shown>
      <p class="aside">
        Measured by <code>pushbench capacity</code>, last on {formatDay(series.created)}. Servers share a place if their
        intervals overlap; an interval reaches from the smallest load that a fresh start carried to the largest that one
        refused. Bars are shares of the largest capacity.
      </p>
    </section>
  );
}

interface MostProps extends Omit<CapacityProps, 'controls'> {
  /** shows the servers of the first place, the capacity of the first, and how many others may carry more */
  children: (servers: string[], carried: string) => ComponentChildren;
}

/** Which server has the largest capacity. */
export function MostCarried({ manifest, query, words, series, children }: MostProps) {
  const loaded = useLoaded(series.id, () => loadCapacities(series));
  return (
    <Shown loaded={loaded}>
      {(capacities) => {
        const ranking = rankCapacities(capacities, (server) => isWanted(manifest, server, query));
        const [most] = ranking.ranked;
        const unknown = mayCarryMore(ranking);
        const carried = most ? capacityText(most.capacity, loadUnit(words, series.searched)) : 'no server has a number';
        return children(
          ranking.ranked.filter((each) => each.place === 1).map((each) => each.server),
          unknown ? `${carried}; ${unknown} other${unknown > 1 ? 's' : ''} may carry more` : carried,
        );
      }}
    </Shown>
  );
}

interface BoundProps {
  server: string;
  capacity: Capacity;
}

/** The exhausted resource, or else the reason why the search ended. */
function Bound({ server, capacity: { binding, reason } }: BoundProps) {
  const binds = binding && BINDS[binding.resource];
  return (
    <span class="verdict">
      <a href={href('server', {}, server)} title={binding?.sentence ?? reason}>
        {binds ? `binds: ${binds}` : reason.replace(/:.*/s, '')}
      </a>
    </span>
  );
}
