// Which server is best by a metric, as far as the noise permits an answer. Pure.

import type { CapacitySeries } from './capacity';
import type { Combination, Manifest, Margin, OverviewRow, Words } from './types';

export interface Ranked {
  row: OverviewRow;
  value: number;
  /** multiples of the best: 1 for the best itself */
  times: number;
  /** counted from 1; servers that cannot be told apart share one */
  place: number;
}

export interface Ranking {
  ranked: Ranked[];
  /** servers that are not compared with the others, and why */
  apart: { row: OverviewRow; why: 'invalid' | 'fail' | 'missing' }[];
  /** whether the noise between runs is known; if not, the margin of the metric decides alone */
  noisy: boolean;
  margin: Margin | undefined;
}

/** The metrics that servers are ranked by, the most requested first. */
export function rankedBy(words: Words, metrics: string[]): string[] {
  const latency = words.headline.replace(/\.[^.]*$/, '');
  const points = metrics.filter((metric) => metric.startsWith(`${latency}.`) && metric !== words.headline);
  const wanted = [words.headline, words.cost, 'memory_bytes.peak', ...points];
  return wanted.filter((metric) => metrics.includes(metric));
}

type Margins = Manifest['margins'][string];

/** Ranks servers. One that breaks a limit is best at nothing: it did not have to carry the work that it lost. */
export function rank(rows: OverviewRow[], metric: string, words: Words, margins: Margins | undefined): Ranking {
  const margin = margins?.[metric];
  const lower = words.metrics[metric]?.better !== 'higher';
  const latency = metric.startsWith(`${words.headline.replace(/\.[^.]*$/, '')}.`);
  const number = (row: OverviewRow) => row.values[metric] ?? null;
  const why = (row: OverviewRow) => {
    if (!row.valid || row.outcome === 'invalid') return 'invalid';
    if (row.outcome === 'fail') return 'fail';
    return number(row) === null ? 'missing' : null;
  };
  const sorted = rows
    .filter((row) => why(row) === null)
    .map((row) => ({ row, value: number(row) ?? 0 }))
    .sort((a, b) => (lower ? a.value - b.value : b.value - a.value) || (a.row.server < b.row.server ? -1 : 1));
  const best = sorted[0]?.value ?? 0;
  const ranked: Ranked[] = [];
  sorted.forEach(({ row, value }, index) => {
    const first = ranked.find((each) => each.place === ranked.at(-1)?.place);
    const tied = first !== undefined && !apart(first, { row, value }, metric, { margin, latency });
    const times = lower ? value / best : best / value;
    ranked.push({ row, value, times: Number.isFinite(times) ? times : 1, place: tied ? first.place : index + 1 });
  });
  return {
    ranked,
    apart: rows.flatMap((row) => {
      const found = why(row);
      return found ? [{ row, why: found }] : [];
    }),
    noisy: sorted.some(({ row }) => row.noise[metric] !== undefined),
    margin,
  };
}

type Measured = Pick<Ranked, 'row' | 'value'>;

/**
 * Whether two servers differ by more than the noise of both. If the noise is not known yet, a latency has to differ by
 * more than starts of the same code do (docs/method.md, Rankings), and another metric by as much as counts as a change.
 */
function apart(
  a: Measured,
  b: Measured,
  metric: string,
  { margin, latency }: { margin: Margin | undefined; latency: boolean },
): boolean {
  const unknown = [a, b].some(({ row }) => row.noise[metric] === undefined);
  const chances = [a, b].map(({ row }) => row.chance ?? null);
  if (unknown && latency && !chances.includes(null)) {
    return Math.abs(Math.log(a.value / b.value)) > Math.hypot(...chances.map((each) => each ?? 0));
  }
  const scatters = [a, b].map(({ row, value }) => (row.noise[metric] ?? margin?.margin ?? 0) * value);
  return Math.abs(a.value - b.value) > Math.hypot(...scatters);
}

/** The traits by which a reader may choose servers. */
export const TRAITS = ['tier', 'language', 'protocol'] as const;

export type Trait = (typeof TRAITS)[number];

/** For each trait, the values that any of these servers has, if there are several. */
export function traitsOf(manifest: Manifest, servers: string[]): Partial<Record<Trait, string[]>> {
  const found: Partial<Record<Trait, string[]>> = {};
  for (const trait of TRAITS) {
    const values = [...new Set(servers.flatMap((server) => manifest.servers[server]?.[trait] ?? []))].sort();
    if (values.length > 1) found[trait] = values;
  }
  return found;
}

/** Whether a server has the traits that the address names. A server that is not in the checkout has none. */
export function isWanted(manifest: Manifest, server: string, query: URLSearchParams): boolean {
  return TRAITS.every((trait) => {
    const asked = query.get(trait);
    return !asked || manifest.servers[server]?.[trait] === asked;
  });
}

/** The median of the known values. */
export function medianNoise(rows: OverviewRow[], metric: string): number | null {
  const known = rows.map((row) => row.noise[metric]).filter((each) => each !== undefined);
  known.sort((a, b) => a - b);
  return known[Math.floor(known.length / 2)] ?? null;
}

/** The newest searches for capacities in an environment and a suite. */
export function seriesOf(
  manifest: Manifest,
  { environment, suite }: Pick<Combination, 'environment' | 'suite'>,
): CapacitySeries | undefined {
  return manifest.capacities?.find((each) => each.environment === environment && each.suite === suite);
}
