// The trials of a server, second by second.

import { dictionary, load, part } from './load';
import type { Timelines } from './run-types';

/** Columns of schema 2, which names latencies after their own names, and receipts `delivered`. */
const LATENCY = /^[a-z]+_(p50|p95|p99|max)_seconds$/;

export async function loadTimelines(run: string, server: string): Promise<Timelines> {
  const found = await load<Timelines>(`runs/${part(run)}/${part(server)}`);
  const named = <T>(columns: Record<string, T>) =>
    dictionary(
      Object.entries(columns).map(([name, values]) => [
        name.replace(LATENCY, 'latency_$1_seconds').replace(/^delivered$/, 'received'),
        values,
      ]),
    );
  const trials = found.trials.map((trial) => ({ ...trial, timeline: trial.timeline && named(trial.timeline) }));
  return { ...found, trials };
}
