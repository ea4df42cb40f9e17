// The capacities of servers: which searches can be compared, and which is best. Pure except for `loadCapacities`.

import { CLIENTS, type Kind } from './curves';
import { load } from './load';
import type { Run } from './run-types';
import type { Manifest, Parameters } from './types';

/** Searches that can be compared: of one environment and suite, with the same parameters and limits. */
export interface CapacitySeries {
  id: string;
  /** of the newest search */
  created: string;
  environment: string;
  suite: string;
  /** `clients`, or the parameter that is the rate */
  searched: string;
  parameters: Parameters;
  servers: string[];
  version: string;
}

/** The capacity of a server, from its newest search. */
export interface Capacity {
  record: string;
  created: string;
  commit: string | null;
  carried: number | null;
  low: number | null;
  high: number | null;
  at_least: boolean;
  reason: string;
  binding: { resource: string; sentence: string } | null;
  per_1000: Record<string, number>;
  starts: number[];
  confirmed: boolean;
  failure: string | null;
  /** each probed load, in ascending order */
  points: { load: number; carried: boolean; metrics: Record<string, number> }[];
}

/** The same as in bench/pushbench/reporting/capacities.py. */
export const BINDS: Record<string, string> = {
  process: 'the process',
  open_files: 'open files',
  connections: 'connections',
  cpu: 'CPU',
  core: 'one core',
  services: 'services',
  memory: 'memory',
  event_loop: 'event loop',
  queue: 'a queue',
  accepting: 'accepting clients',
  unknown: 'unknown',
};

export type Capacities = Record<string, Capacity>;

export async function loadCapacities(series: CapacitySeries): Promise<Capacities> {
  return (await load<{ servers: Capacities }>(series.id, series.version)).servers;
}

/** The searches with exactly the load of a run's curve, so that their results may be marked on it. */
export function seriesBeside(manifest: Manifest, { run, parameters }: Run, kind: Kind): CapacitySeries | undefined {
  if (kind.title) return undefined;
  return manifest.capacities?.find(
    (each) =>
      each.environment === run.environment &&
      each.suite === run.suite &&
      (each.searched === CLIENTS) === (kind.unit === CLIENTS) &&
      sameParameters(parameters, each),
  );
}

function sameParameters(parameters: Run['parameters'], { parameters: own, searched }: CapacitySeries): boolean {
  const sorted = (of: Run['parameters']) =>
    JSON.stringify(
      Object.entries(of)
        .filter(([name]) => name !== searched)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  return sorted(parameters) === sorted(own);
}

/** `5,260 clients`, `at least 320 requests/s`. */
export function capacityText({ carried, at_least }: Capacity, unit: string): string {
  if (carried === null) return 'no number';
  if (carried === 0) return 'nothing';
  return `${at_least ? 'at least ' : ''}${carried.toLocaleString('en-US')} ${unit}`;
}

/** From the lowest load that a start carried to the highest that one refused; empty for a lower bound. */
export function intervalText({ low, high, at_least }: Capacity): string {
  if (low === null || high === null || at_least) return '';
  return `${low.toLocaleString('en-US')} to ${high.toLocaleString('en-US')}`;
}

export interface Carrier {
  server: string;
  capacity: Capacity;
  /** counted from 1; servers whose intervals overlap share one */
  place: number;
  /** relative to the largest capacity */
  share: number;
}

export interface CapacityRanking {
  ranked: Carrier[];
  /** servers without a place: those without a number, and lower bounds below the capacity of another server */
  apart: { server: string; capacity: Capacity }[];
}

/** Ranks servers by their capacities, the largest first. */
export function rankCapacities(capacities: Capacities, wanted: (server: string) => boolean): CapacityRanking {
  const all = Object.entries(capacities)
    .filter(([server]) => wanted(server))
    .map(([server, capacity]) => ({ server, capacity, carried: capacity.carried ?? 0 }))
    .sort((a, b) => b.carried - a.carried || (a.server < b.server ? -1 : 1));
  const highest = Math.max(
    0,
    ...all.map(({ capacity, carried }) => (capacity.at_least ? 0 : (capacity.high ?? carried))),
  );
  const fits = ({ capacity, carried }: (typeof all)[number]) =>
    carried > 0 && (!capacity.at_least || carried >= highest);
  const most = all.find(fits)?.carried ?? 1;
  const ranked: Carrier[] = [];
  all.filter(fits).forEach(({ server, capacity, carried }, index) => {
    const first = ranked.find((each) => each.place === ranked.at(-1)?.place);
    const place = first && overlap(first.capacity, capacity) ? first.place : index + 1;
    ranked.push({ server, capacity, place, share: carried / most });
  });
  return { ranked, apart: all.filter((each) => !fits(each)) };
}

/** How many of the lower bounds below the largest capacity may be more: the servers refused no load between. */
export function mayCarryMore({ ranked: [most], apart }: CapacityRanking): number {
  const largest = most?.capacity.carried ?? 0;
  if (!most || most.capacity.at_least) return 0;
  return apart.filter(({ capacity: { at_least, carried, points } }) => {
    const refused = points.some((point) => !point.carried && point.load > (carried ?? 0) && point.load <= largest);
    return at_least && !refused;
  }).length;
}

/** Whether the intervals overlap; `more` has the larger capacity. A lower bound may be anything above it. */
function overlap(more: Capacity, less: Capacity): boolean {
  if (more.at_least && less.at_least) return true;
  return (less.high ?? Number.POSITIVE_INFINITY) >= (more.low ?? 0) && !more.at_least;
}
