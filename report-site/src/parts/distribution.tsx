// The percentile plot of latencies: how many nines lie below which latency.

import type { StageNumbers } from '../data/run-types';
import type { Words } from '../data/types';
import { chosenLatency, latencyTitle } from '../data/words';
import { type Stroke, stroke } from '../theme';
import { formatQuantity } from '../units';
import { Chart } from './chart';
import { Choice } from './page';

/** The same as TAIL_STEPS in bench/pushbench/site/runfile.py: points for each further nine. */
const STEPS = 8;
const HEIGHT = 300;

export interface Distribution {
  label: string;
  /** seconds that a share of 10 ** (-index / STEPS) of the latencies reached or exceeded */
  tail: number[];
  shown: boolean;
  /** the stroke of a server; without one, strokes differ from line to line */
  stroke?: Stroke;
}

interface Props {
  title: string;
  version: string;
  distributions: Distribution[];
  onToggle?: (label: string) => void;
  onOnly?: (label: string) => void;
}

export function DistributionChart({ title, version, distributions, onToggle, onOnly }: Props) {
  const longest = Math.max(0, ...distributions.map((each) => each.tail.length));
  const x = Array.from({ length: longest }, (_, index) => index);
  return (
    <Chart
      title={title}
      version={version}
      plot={{
        x,
        xFormat: percentile,
        xSteps: x.filter((index) => index % STEPS === 0),
        yFormat: (seconds) => formatQuantity(seconds, 'seconds'),
        log: true,
        lines: distributions.map(({ label, tail, shown, stroke: own }, index) => ({
          label,
          values: x.map((at) => tail[at] ?? null),
          stroke: own ?? stroke(index),
          shown,
        })),
        height: HEIGHT,
      }}
      describe={(index) => `${percentile(index)} took at most`}
      rows={{
        titles: ['Share'],
        cells: (index) => [{ text: percentile(index), value: 1 - 10 ** (-index / STEPS) }],
      }}
      {...(onToggle ? { onToggle } : {})}
      {...(onOnly ? { onOnly } : {})}
      empty="Nothing arrived, so there is no latency to show."
    />
  );
}

/** The latencies of a suite that these stages have, in its order. */
function measuredLatencies(words: Words, stages: (StageNumbers | undefined)[]): string[] {
  return Object.keys(words.latencies).filter((name) => stages.some((stage) => stage?.tails?.[name]?.length));
}

/** The chosen latency and its title. */
export function latencyOf(words: Words, stages: (StageNumbers | undefined)[], query: URLSearchParams) {
  const measured = measuredLatencies(words, stages);
  const name = chosenLatency(words, measured, query.get('kind'));
  return { measured, name, title: latencyTitle(words, name) };
}

export function LatencyChoice({ words, latency }: { words: Words; latency: ReturnType<typeof latencyOf> }) {
  if (latency.measured.length < 2) return null;
  const options = latency.measured.map((value) => ({ value, text: words.latencies[value] ?? value }));
  return <Choice label="Latency" name="kind" value={latency.name} options={options} />;
}

function percentile(index: number): string {
  const above = 10 ** (-index / STEPS);
  const digits = Math.max(0, Math.ceil(index / STEPS) - (index % STEPS === 0 ? 2 : 1));
  return `${((1 - above) * 100).toFixed(index === 0 ? 0 : digits)} %`;
}
