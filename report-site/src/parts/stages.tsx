// The stages of a run: which one is chosen, its name, and a cell of its numbers.

import { dueInstead, THROUGHPUT } from '../data/method';
import type { Run, Spread, StageNumbers } from '../data/run-types';
import type { Words } from '../data/types';
import { unitOf } from '../data/words';
import { formatQuantity, NOT_MEASURED } from '../units';
import { Choice, Pick } from './page';
import type { Cell } from './table';

interface Stage {
  name: string;
  clients?: number;
}

/** The stage that the address names, else the one that ranks, like `headline` in bench/pushbench/records/stages.py. */
export function chosenStage<S extends Stage>(stages: S[], query: URLSearchParams): S | undefined {
  return (
    stages.find((each) => each.name === query.get('stage')) ??
    stages.filter((each) => each.name === String(each.clients)).at(-1) ??
    stages.filter((each) => !each.name.split('-').includes('closed')).at(-1) ??
    stages.at(-1)
  );
}

interface ChoiceProps {
  stages: StageNumbers[];
  chosen: StageNumbers;
}

export function StagePick({ stages, chosen }: ChoiceProps) {
  return <Pick label="Stage" name="stage" value={chosen.name} options={stages.map(option)} />;
}

/** Shows all stages at once, if there is room. */
export function StageChoice({ stages, chosen }: ChoiceProps) {
  return <Choice label="Stage" name="stage" value={chosen.name} options={stages.map(option)} />;
}

export function stageOf(run: Run, server: string, stage: string): StageNumbers | undefined {
  return run.servers.find((each) => each.server === server)?.stages.find((each) => each.name === stage);
}

function option(stage: StageNumbers) {
  return { value: stage.name, text: stageTitle(stage) };
}

export function stageTitle(stage: StageNumbers): string {
  return stage.clients === undefined || stage.name !== String(stage.clients)
    ? stage.name
    : `${stage.clients.toLocaleString('en-US')} clients`;
}

/** A metric of a stage; below a throughput that is noticeably smaller than what was due, also the latter. */
export function metricCell(words: Words, metric: string, stage: StageNumbers | undefined, format?: Format): Cell {
  const metrics = stage?.metrics ?? {};
  const due = metric === THROUGHPUT ? dueInstead(metrics) : null;
  const unit = unitOf(words, metric);
  return spreadCell(metrics[metric], due, format ?? ((value) => formatQuantity(value, unit)));
}

/** Writes the values of a column, all in one unit. */
export type Format = (value: number) => string;

function spreadCell(spread: Spread | undefined, due: number | null, format: Format): Cell {
  const [median = null, low, high] = spread ?? [];
  const text = median === null ? NOT_MEASURED : format(median);
  const below = due === null ? [] : [`of ${format(due)} due`];
  if (low !== undefined && high !== undefined) below.push(`${format(low)} to ${format(high)}`);
  if (!below.length) return { text, value: median };
  return {
    text: `${text} (${below.join(', ')})`,
    value: median,
    show: (
      <>
        {text}
        {below.map((each) => (
          <span key={each} class="below">
            {each}
          </span>
        ))}
      </>
    ),
  };
}
