// What the data files contain; docs/site.md describes them. Values are in base units.

import type { CapacitySeries } from './capacity';

export type Outcome = 'pass' | 'fail' | 'inconclusive' | 'invalid';
export type Word = 'better' | 'same' | 'worse' | 'accepted' | 'unknown' | 'invalid';
export type Unit = 'count' | 'per_second' | 'seconds' | 'bytes' | 'bytes_per_second' | 'ratio' | 'cores';
export type Parameters = Record<string, string | number | boolean>;

export interface Metric {
  title: string;
  unit: Unit;
  better: 'lower' | 'higher';
  /** how records of method 1 count it, if they count it differently */
  method_1?: string;
}

/** The words of one suite. */
export interface Words {
  title: string;
  /** the unit of work and what clients begin: plural, as inside a sentence */
  work: string;
  exchanges: string;
  /** the metric that represents a server if there is room for only one: a point of a latency */
  headline: string;
  /** the metric with the least noise: the server's CPU for a unit of work */
  cost: string;
  /** titles by names */
  latencies: Record<string, string>;
  /** the metrics of a table */
  columns: string[];
  metrics: Record<string, Metric>;
  /** `clients`, or the parameter that is the rate of all clients together; not in older files */
  load?: string;
  /** not in older files */
  limits?: Limit[];
}

/** A bound of a suite, for all servers and stages. */
export interface Limit {
  metric: string;
  side: 'max' | 'min';
  value: number;
}

export interface Server {
  title: string;
  link: string;
  language: string;
  protocol: string;
  tier: string;
  folder: string;
}

/** numbers of a colour, a dash and a marker: see src/theme.ts */
export type Look = [number, number, number];

export interface Environment {
  key: string;
  cpu_model: string;
  cpus: number;
  /** null if the nodes of a cluster do not report it */
  physical_cores: number | null;
  memory_bytes: number;
  kernel: string;
  engine: string | null;
  driver: string;
  workers: number | null;
  /** number of processes, if it is not one; not in older records */
  generators?: number | null;
  /** number of the metrics' definitions; 1 if it is missing */
  method?: number | null;
  /** idle CPUs did not halt; not in older records */
  awake?: boolean | null;
  /** name of the machine, if it was not like the others of its run */
  machine?: string | null;
  server_cpus: number[];
  generator_cpus: number[];
}

export interface Window {
  name: string;
  from: number;
  to: number;
  version: string;
  first: string;
}

export interface Combination {
  id: string;
  environment: string;
  /** number of the metrics' definitions, the same in all runs */
  method?: number;
  suite: string;
  profile: string;
  parameters: Parameters;
  stages: { name: string; clients: number }[];
  metrics: string[];
  servers: string[];
  runs: number;
  first: string;
  last: string;
  overview: string;
  /** none if nothing is marked */
  marks?: string | null;
  windows: Window[];
}

/** what, from, to */
export type Moved = [string, string, string];

/** `at` counts the runs of the combination; times in seconds. */
export type Mark = { at: number } & (
  | { kind: 'release'; name: string; commit: string; time: number; exact: boolean }
  | ({ kind: 'environment'; environment: string; combination: string; changed: Moved[] | null } & (
      | { where: 'before'; from: number; to: number; runs: number }
      | { where: 'after'; from: number }
    ))
  | { kind: 'harness'; changed: Moved[]; last?: number }
  | { kind: 'versions'; server: string; changed: Moved[]; last?: number }
);

export interface Marks {
  marks: Mark[];
  left_out: number;
}

export interface RunRow {
  id: string;
  created: string;
  commit: string | null;
  subject: string;
  dirty: boolean;
  environment: string;
  /** number of the metrics' definitions; 1 if it is missing */
  method?: number;
  suite: string;
  profile: string;
  comparison: boolean;
  outcome: Outcome | null;
  servers: number;
  trials: number;
  valid: number;
  whole: boolean;
}

export interface Manifest {
  repository: string | null;
  judged_by: string;
  servers: Record<string, Server>;
  /** how each server is drawn; not in older files */
  looks?: Record<string, Look>;
  /** the pictures of each server: `charts/<server>-<name>.svg`; not in older files */
  charts?: Record<string, string[]>;
  /** the newest first; not in older files */
  capacities?: CapacitySeries[];
  /** not in files of schema 2, which have the metrics of their one suite */
  suites?: Record<string, Words>;
  metrics?: Record<string, Metric>;
  /** comparisons called worse: of equal builds, and of builds that take a tenth more CPU; not in older files */
  judge?: { equal: { count: number; of: number; most: number }; slower: { count: number; of: number } } | null;
  margins: Record<string, Record<string, Margin>>;
  environments: Record<string, Environment>;
  combinations: Combination[];
  runs: RunRow[];
  all_runs: number;
  /** number of full records that the site keeps; null: all */
  keep: number | null;
}

export interface Margin {
  margin: number;
  floor: number;
}

export interface Event {
  id: string;
  combination: string;
  server: string;
  metric: string;
  stage: string;
  stages: string[];
  word: 'better' | 'worse';
  before: number;
  after: number;
  run: string;
  created: string;
  commit: string;
  previous: string;
  subject: string;
}

export interface OverviewRow {
  server: string;
  run: string;
  created: string;
  runs: number;
  valid: boolean;
  /** outcome in that run; not in older files */
  outcome?: Outcome | null;
  values: Record<string, number | null>;
  /** units of work a second that were due, if noticeably fewer arrived */
  due?: number | null;
  words: Record<string, Word>;
  noise: Record<string, number>;
  /**
   * how much a latency varies by chance alone, as the logarithm of a ratio, if no noise is known; not in older files
   */
  chance?: number | null;
  trend: (number | null)[];
}

export interface Overview {
  stage: string | null;
  metrics: string[];
  sparkline: string;
  rows: OverviewRow[];
  events: Event[];
  invalid: { run: string; created: string; servers: string[] }[];
  newest: RunRow & { reasons: string[] };
}

export interface WindowRuns {
  from: number;
  ids: string[];
  times: number[];
  commits: string[];
  subjects: string[];
  invalid: Record<string, number[]>;
}

/** Begin, end, low, level, high; no band if the level has too few runs. */
export type Level = [number, number, number | null, number | null, number | null];
/** index, before, after */
export type Change = [number, number, number];

export interface Series {
  values: (number | null)[];
  levels: Level[];
  changes: Change[];
}

export interface WindowSeries {
  from: number;
  servers: Record<string, Series>;
}

/** A piece of text with parts between backticks, a list or a table of such (its heading first), or code. */
export interface Block {
  rows?: string[][];
  text?: string;
  items?: string[];
  code?: string;
}

export interface Method {
  /** what every server promises */
  contract: Block[];
  suites: {
    id: string;
    title: string;
    description: string;
    protocols: { name: string; title: string; blocks: Block[] }[];
    /** what its servers promise in addition */
    contract: Block[];
    latencies: { title: string; until: string }[];
    parameters: Parameters;
    profiles: Record<
      string,
      {
        stages: { clients: number; name: string; parameters: Parameters }[];
        warmup_seconds: number;
        ramp_seconds: number;
        settle_seconds: number;
        steady_seconds: number;
        drain_seconds: number;
      }
    >;
    limits: { metric: string; side: 'max' | 'min'; value: number; server: string | null }[];
    margins: { metric: string; margin: number; floor: number; bias: number; server: string | null }[];
  }[];
  calibration: {
    environments: string[];
    cases: {
      server: string;
      injected: string;
      how: string;
      /** for scaled cases: how the arms of the drawn campaigns differ */
      arms: string | null;
      runs: number;
      /** number of independent campaigns behind the runs; null if each run is one */
      campaigns: number | null;
      rounds: number;
      most_rounds: number;
      words: Partial<Record<Word, number>>;
      failed: { count: number; of: number; low: number; high: number };
    }[];
  } | null;
  /** how the arms of comparisons of equal code differ, by the word of the calibration */
  arms: Record<string, string>;
  /** what meaningless changes cost each server */
  bias: { header: string[]; rows: string[][]; sittings: number } | null;
  /** which faults `verify`, `run` and `compare` caught */
  faults: {
    server: string;
    tally: string;
    ways: string[];
    rows: { title: string; cells: string[] }[];
    /** a sentence for each look that did not catch what nothing caught */
    missed: string[];
  } | null;
}
