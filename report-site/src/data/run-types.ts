// What the data files of a run contain; docs/site.md describes them. Values are in base units.

import type { Environment, Outcome, Parameters, RunRow, Word } from './types';

/** The median, followed by the smallest and the largest value if trials differ. */
export type Spread = [number] | [number, number, number];

/** A stage as it was planned. */
export interface StagePlan {
  name: string;
  clients: number;
  closed?: boolean;
  parameters?: Parameters;
  outage?: object | null;
}

export interface StageNumbers {
  name: string;
  clients?: number;
  parameters?: Parameters;
  believed?: boolean;
  metrics: Record<string, Spread>;
  /** of each part, if the server is a system */
  parts?: Record<string, Record<string, Spread>>;
  tails?: Record<string, number[]>;
}

export interface TrialNotes {
  arm: 'head' | 'base';
  round: number;
  started: string;
  seconds: number;
  build: string;
  valid: boolean;
  reasons: string[];
  warnings: string[];
  failure: { step: string; message: string; log: string[] } | null;
  errors: { reason: string; count: number }[];
}

export interface RunServer {
  server: string;
  reported?: { server: string; runtime: string; framework: string } | null;
  trials: number;
  valid: number;
  of?: TrialNotes[];
  stages: StageNumbers[];
  base?: StageNumbers[] | null;
}

export interface JudgedChange {
  server: string;
  metric: string;
  name: string;
  word: Word;
  scale: 'ratio' | 'difference';
  base: number | null;
  head: number | null;
  change: number | null;
  low: number | null;
  high: number | null;
  margin: number;
  visible: number | null;
  pairs: number;
  /** why thresholds.yml accepts what got worse; not in older verdicts */
  acceptance?: { reason: string; until: string; where: string } | null;
}

export interface JudgedLimit {
  server: string;
  metric: string;
  name: string;
  bound: { side: 'max' | 'min'; value: number };
  value: number | null;
  outcome: 'fail' | 'unknown' | 'invalid';
}

export interface Run {
  run: RunRow & { reasons: string[] };
  /** address of the full record, if the site has it */
  record?: string;
  ref?: string | null;
  harness?: Record<string, string>;
  environment?: Environment;
  /** the machines that shared the servers, if several did; `apart` says why one is not compared with the others */
  machines?: { name: string; servers: string[]; apart: string }[];
  parameters: Parameters;
  schedule?: { stages: StagePlan[] };
  planned?: number;
  skipped?: { server: string; reason: string }[];
  base?: string | null;
  command?: string;
  verdict?: {
    outcome: Outcome;
    reasons: string[];
    notes: string[];
    servers: { server: string; outcome: Outcome; valid_trials: number; trials: number; reasons: string[] }[];
    changes: JudgedChange[];
    limits: JudgedLimit[];
  };
  servers: RunServer[];
}

export interface Timeline {
  arm: 'head' | 'base';
  round: number;
  stages: [number, number, string][];
  timeline: Record<string, (number | null)[]> | null;
  resources: Record<string, (number | null)[]> | null;
}

export interface Timelines {
  server: string;
  trials: Timeline[];
}
