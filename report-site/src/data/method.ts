// How the definitions of metrics affect numbers: what was due beside throughput, and how older records count. Pure.

import type { Spread } from './run-types';
import type { Words } from './types';

export const THROUGHPUT = 'throughput_per_second';
/** The same as in bench/pushbench/reporting/summary.py. */
const NOTICEABLE_SHORTFALL = 0.01;

/** The units of work a second that were due, if noticeably fewer arrived. */
export function dueInstead(metrics: Record<string, Spread>): number | null {
  const [throughput, offered] = [metrics[THROUGHPUT]?.[0], metrics.offered_per_second?.[0]];
  if (throughput === undefined || offered === undefined) return null;
  return throughput < (1 - NOTICEABLE_SHORTFALL) * offered ? offered : null;
}

/** How records of method 1 count some of these metrics differently; empty for newer records. */
export function countedOtherwise(words: Words, metrics: string[], method: number | undefined): string {
  const clauses = new Set(metrics.map((metric) => words.metrics[metric]?.method_1 ?? ''));
  const said = [...clauses].filter((clause) => clause).join('; ');
  return (method ?? 1) === 1 && said ? `Method 1: ${said}.` : '';
}
