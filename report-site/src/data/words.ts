// The words of a suite: the names of its metrics, its latencies and its unit of work. Pure.

import type { Combination, Manifest, Overview, Unit, Words } from './types';

/** The words of a suite. A suite that is not in the manifest has only its name. */
export function wordsOf(manifest: Manifest, suite: string): Words {
  return manifest.suites?.[suite] ?? { ...NO_WORDS, title: suite, metrics: manifest.metrics ?? {} };
}

const NO_WORDS = { work: 'work', exchanges: 'exchanges', headline: '', cost: '', latencies: {}, columns: [] };

export function metricTitle(words: Words, metric: string): string {
  return words.metrics[metric]?.title ?? metric;
}

export function unitOf(words: Words, metric: string): Unit {
  return words.metrics[metric]?.unit ?? 'count';
}

/** A title inside a sentence, like `in_sentence` in bench/pushbench/metrics/definitions.py: `CPU` stays. */
export function inSentence(title: string): string {
  return /^.[A-Z]/.test(title) ? title : title.charAt(0).toLowerCase() + title.slice(1);
}

/** Where the numbers of an overview were measured: `at 1,000 clients`, `in open-200`. */
export function atStage({ stages }: Combination, overview: Overview): string {
  const stage = stages.find((each) => each.name === overview.stage);
  if (!stage) return 'in the stage that ranks';
  return stage.name === String(stage.clients)
    ? `at ${stage.clients.toLocaleString('en-US')} clients`
    : `in ${stage.name}`;
}

/** The unit of loads inside a sentence: `clients`, or `requests/s` if a parameter is their rate. */
export function loadUnit(words: Words, searched: string): string {
  return searched === 'clients' ? searched : `${words.exchanges}/s`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The name of the latency that the headline is a point of. */
export function headlineLatency(words: Words): string {
  return words.headline.replace(/_seconds\..*$/, '');
}

/** The title of a latency, such as `first token latency`. */
export function latencyTitle(words: Words, latency: string): string {
  return `${inSentence(words.latencies[latency] ?? latency)} latency`;
}

/** The latency that an address names, or else that of the headline; one that was measured, if any was. */
export function chosenLatency(words: Words, measured: string[], asked: string | null): string {
  const wanted = [asked ?? '', headlineLatency(words)];
  return wanted.find((each) => measured.includes(each)) ?? measured[0] ?? headlineLatency(words);
}

/** Costs of services and corrupt messages need a column only if there are any. */
export function worthShowing(metric: string, values: (number | null | undefined)[]): boolean {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.some((value) => value !== 0 || !/^(services|corrupt)_/.test(metric));
}
