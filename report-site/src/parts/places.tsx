// What every ranking of servers shows: a line for each place, and the servers that have none.

import type { ComponentChildren } from 'preact';
import type { Manifest } from '../data/types';
import { serverStroke } from '../theme';
import { ServerLink, serverTitle } from './page';
import { Swatch } from './swatch';

/** The text of a place. `places` has one for each server; `=` marks a place that several share. */
export function placeText(places: number[], place: number): string {
  return `${place}${isShared(places, place) ? '=' : ''}`;
}

function isShared(places: number[], place: number): boolean {
  return places.filter((each) => each === place).length > 1;
}

interface PlaceProps {
  manifest: Manifest;
  server: string;
  /** the places of all ranked servers, the best first */
  places: number[];
  index: number;
  /** length of the bar, from 0 to 1 */
  share: number;
  /** whether the bar is cut off */
  beyond?: boolean;
  value: string;
  beside: string | null;
  children: ComponentChildren;
}

export function Place({ manifest, server, places, index, share, beyond, value, beside, children }: PlaceProps) {
  const stroke = serverStroke(manifest.looks, server);
  const place = places[index] ?? 0;
  return (
    <li class={place === places[index - 1] ? undefined : 'begins'} value={place}>
      <span class="place" title={isShared(places, place) ? 'These servers cannot be told apart' : undefined}>
        {placeText(places, place)}
      </span>
      <span class="server">
        <Swatch stroke={stroke} />
        <ServerLink server={server} />
        <span class="about">{serverTitle(manifest, server)}</span>
      </span>
      <span class={`bar ${stroke.colour} ${beyond ? 'beyond' : ''}`} aria-hidden="true">
        <span style={{ width: `${(share * 100).toFixed(1)}%` }} />
      </span>
      <span class="value">{value}</span>
      <span class="times">{beside}</span>
      {children}
    </li>
  );
}

interface UnrankedProps {
  manifest: Manifest;
  servers: { server: string; why: ComponentChildren }[];
}

export function Unranked({ manifest, servers }: UnrankedProps) {
  if (!servers.length) return null;
  return (
    <div class="apart">
      <h3>Not ranked</h3>
      <ul>
        {servers.map(({ server, why }) => (
          <li key={server}>
            <Swatch stroke={serverStroke(manifest.looks, server)} /> <ServerLink server={server} />
            {why}
          </li>
        ))}
      </ul>
    </div>
  );
}
