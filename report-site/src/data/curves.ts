// Which stages of a run belong to one load curve, and where on its axis. Pure.

import type { Run, RunServer, StagePlan } from './run-types';
import type { Limit, Words } from './types';

export const CLIENTS = 'clients';

/** Stages that differ only in their load, so that a line may join them. */
export interface Kind {
  /** as in an address */
  key: string;
  /** how they differ from the run's other stages; empty if they have the run's parameters */
  title: string;
  /** the unit of loads, as inside a sentence: `clients`, `requests/s` */
  unit: string;
  /** sorted by load */
  stages: { name: string; load: number }[];
}

export interface Curve {
  values: (number | null)[];
  /** the smallest and the largest trial, if trials differ */
  whiskers: ([number, number] | null)[];
  /** indices of stages without a valid trial */
  invalid: number[];
}

/** The kinds with the most stages first. A stage in which something is killed measures no load. */
export function kindsOf(run: Run, words: Words): Kind[] {
  const found = new Map<string, Kind>();
  for (const plan of plansOf(run)) {
    if (plan.outage) continue;
    const { key, title, unit, load } = placeOf(plan, run, words);
    const kind = found.get(key) ?? { key, title, unit, stages: [] };
    kind.stages.push({ name: plan.name, load });
    found.set(key, kind);
  }
  const kinds = [...found.values()];
  for (const kind of kinds) kind.stages.sort((a, b) => a.load - b.load);
  return kinds.sort((a, b) => b.stages.length - a.stages.length);
}

/** Without a run's record, only the names of its stages are known: a number is a number of clients. */
function plansOf(run: Run): StagePlan[] {
  if (run.schedule) return run.schedule.stages;
  const names = new Set(run.servers.flatMap((server) => server.stages.map((stage) => stage.name)));
  return [...names].filter((name) => /^\d+$/.test(name)).map((name) => ({ name, clients: Number(name) }));
}

function placeOf({ clients, closed, parameters = {} }: StagePlan, run: Run, words: Words) {
  const rate = { ...run.parameters, ...parameters }[words.load ?? CLIENTS];
  const isRate = !closed && typeof rate === 'number' && rate > 0;
  const { [isRate ? (words.load ?? '') : '']: _, ...own } = parameters;
  const about = Object.entries(own).map(([name, value]) => `${name} ${value}`);
  const title = [...(closed ? ['closed'] : []), ...about.sort()].join(', ');
  const unit = isRate ? `${words.exchanges}/s` : CLIENTS;
  return { key: [unit, title].join(' ').trim(), title, unit, load: isRate ? rate : clients };
}

/** The values of a metric at the loads of a kind. */
export function curveOf(server: RunServer, kind: Kind, metric: string): Curve {
  const curve: Curve = { values: [], whiskers: [], invalid: [] };
  kind.stages.forEach(({ name }, index) => {
    const stage = server.stages.find((each) => each.name === name);
    const [median = null, low, high] = stage?.metrics[metric] ?? [];
    const believed = stage?.believed !== false && server.valid > 0;
    curve.values.push(believed ? median : null);
    curve.whiskers.push(believed && low !== undefined && high !== undefined ? [low, high] : null);
    if (!believed && median !== null) curve.invalid.push(index);
  });
  return curve;
}

/** The metrics of load curves that any of the servers has. */
export function curveMetrics(words: Words, servers: RunServer[], kind: Kind): string[] {
  const wanted = [words.headline, 'loss_ratio', words.cost, 'cpu_cores'];
  return wanted.filter((metric) =>
    servers.some((server) => curveOf(server, kind, metric).values.some((value) => value !== null)),
  );
}

/** The upper limit of a metric. */
export function limitOf(words: Words, metric: string): Limit | undefined {
  return words.limits?.find((each) => each.metric === metric && each.side === 'max');
}
