// The percentile plot of latencies: how many nines lie below which latency.

import { stroke } from '../theme';
import { formatQuantity } from '../units';
import { Chart } from './chart';

/** As TAIL_STEPS in bench/pushbench/site/runfile.py: points for each further nine. */
const STEPS = 8;
const HEIGHT = 300;

export const KINDS = [
  { value: 'delivery', text: 'delivery' },
  { value: 'echo', text: 'echo' },
  { value: 'fanout', text: 'fan-out' },
];

export interface Distribution {
  label: string;
  /** seconds that a share of 10 ** (-index / STEPS) of the messages reached or exceeded */
  tail: number[];
  shown: boolean;
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
        lines: distributions.map(({ label, tail, shown }, index) => ({
          label,
          values: x.map((at) => tail[at] ?? null),
          stroke: stroke(index),
          shown,
        })),
        height: HEIGHT,
      }}
      describe={(index) => `${percentile(index)} of the messages took at most`}
      rows={{
        titles: ['Share of messages'],
        cells: (index) => [{ text: percentile(index), value: 1 - 10 ** (-index / STEPS) }],
      }}
      {...(onToggle ? { onToggle } : {})}
      {...(onOnly ? { onOnly } : {})}
      empty="Nothing was delivered, so there is no latency to show."
    />
  );
}

function percentile(index: number): string {
  const above = 10 ** (-index / STEPS);
  const digits = Math.max(0, Math.ceil(index / STEPS) - (index % STEPS === 0 ? 2 : 1));
  return `${((1 - above) * 100).toFixed(index === 0 ? 0 : digits)} %`;
}
