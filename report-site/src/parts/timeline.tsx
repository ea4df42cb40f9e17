// One trial by the second: charts below each other with one time axis and one cursor.

import { load, part, useLoaded } from '../data/load';
import type { Run, RunServer, Timeline, Timelines } from '../data/types';
import { stroke } from '../theme';
import { formatNumber, formatQuantity } from '../units';
import { Chart } from './chart';
import { Pick, Shown } from './page';
import type { Line } from './plot';

const HEIGHT = 170;

type Columns = Record<string, (number | null)[]>;

interface Picture {
  title: string;
  of: 'timeline' | 'resources';
  format: (value: number) => string;
  log?: boolean;
  lines: [string, string][];
}

const PICTURES: Picture[] = [
  { title: 'Clients', of: 'timeline', format: formatNumber, lines: [['clients', 'clients']] },
  {
    title: 'Messages a second',
    of: 'timeline',
    format: formatNumber,
    lines: [
      ['sent', 'sent'],
      ['delivered', 'delivered'],
    ],
  },
  {
    title: 'Delivery latency',
    of: 'timeline',
    format: (value) => formatQuantity(value, 'seconds'),
    log: true,
    lines: [
      ['delivery_p50_seconds', 'p50'],
      ['delivery_p95_seconds', 'p95'],
      ['delivery_p99_seconds', 'p99'],
      ['delivery_max_seconds', 'max'],
    ],
  },
  {
    title: 'Loss',
    of: 'timeline',
    format: (value) => formatQuantity(value, 'ratio'),
    lines: [['loss_ratio', 'loss']],
  },
  {
    title: 'CPU, cores',
    of: 'resources',
    format: formatNumber,
    lines: [
      ['cpu_cores', 'server'],
      ['services_cpu_cores', 'services'],
      ['generator_cpu_cores', 'generator'],
    ],
  },
  {
    title: 'Memory',
    of: 'resources',
    format: (value) => formatQuantity(value, 'bytes'),
    lines: [['memory_bytes', 'server']],
  },
  {
    title: 'Network',
    of: 'timeline',
    format: (value) => formatQuantity(value, 'bytes_per_second'),
    lines: [
      ['network_in_bytes', 'in'],
      ['network_out_bytes', 'out'],
    ],
  },
  { title: 'Threads', of: 'resources', format: formatNumber, lines: [['threads', 'server']] },
];

export function TrialTimeline({ run, server, query }: { run: Run; server: RunServer; query: URLSearchParams }) {
  const name = `runs/${part(run.run.id)}/${part(server.server)}`;
  const loaded = useLoaded(name, () => load<Timelines>(name));
  return (
    <section aria-labelledby="timeline">
      <h3 id="timeline">By the second</h3>
      <Shown loaded={loaded}>
        {(found) => <Pictures server={server.server} timelines={found.trials} asked={query.get('trial')} />}
      </Shown>
    </section>
  );
}

function Pictures({ server, timelines, asked }: { server: string; timelines: Timeline[]; asked: string | null }) {
  const trial = timelines.find((each) => nameOf(each) === asked) ?? timelines[0];
  if (!trial) return <p class="empty">No trial of it is in the record.</p>;
  const options = timelines.map((each) => ({
    value: nameOf(each),
    text: `round ${each.round}${each.arm === 'base' ? ' of the base' : ''}`,
  }));
  return (
    <>
      {timelines.length > 1 && <Pick label="Trial" name="trial" value={nameOf(trial)} options={options} />}
      <p class="aside">
        Shaded: the steady windows, which alone are measured. A loss stands where the message was due. Network in is
        what clients sent to the server, out what it sent to them.
      </p>
      <div class="stack">
        {PICTURES.map((picture) => (
          <TimelineChart key={picture.title} picture={picture} trial={trial} server={server} />
        ))}
      </div>
    </>
  );
}

function TimelineChart({ picture, trial, server }: { picture: Picture; trial: Timeline; server: string }) {
  const columns: Columns | null = trial[picture.of];
  const seconds = secondsOf(picture, columns);
  const lines: Line[] = picture.lines
    .filter(([column]) => columns?.[column]?.some((value) => value !== null))
    .map(([column, label], index) => ({ label, values: columns?.[column] ?? [], stroke: stroke(index), shown: true }));
  return (
    <Chart
      title={picture.title}
      version={JSON.stringify([server, nameOf(trial), picture.title])}
      plot={{
        x: seconds,
        xFormat: (x) => `${formatNumber(x)} s`,
        yFormat: picture.format,
        ...(picture.log && lines.some((line) => line.values.some((value) => value)) ? { log: true } : {}),
        lines,
        spans: trial.stages.map(([from, to, label]) => ({ from, to, label })),
        height: HEIGHT,
        sync: 'trial',
        xRange: [0, lastSecond(trial)],
      }}
      describe={(index) => `second ${formatNumber(Math.round(seconds[index] ?? 0))}`}
      rows={{
        titles: ['Second'],
        cells: (index) => [{ text: String(seconds[index] ?? ''), value: seconds[index] ?? null }],
      }}
      empty={
        picture.lines.some(([column]) => columns?.[column]) ? 'There was nothing to measure.' : 'It was not recorded.'
      }
    />
  );
}

function secondsOf(picture: Picture, columns: Columns | null): number[] {
  const named = picture.of === 'resources' ? columns?.seconds : undefined;
  const length = columns?.[picture.lines[0]?.[0] ?? '']?.length ?? 0;
  return named?.map((each) => each ?? 0) ?? Array.from({ length }, (_, index) => index);
}

/** Of all charts of a trial: resources are sampled for some seconds more or less than the load lasts. */
function lastSecond({ timeline, resources }: Timeline): number {
  return Math.max(1, (timeline?.clients?.length ?? 0) - 1, resources?.seconds?.at(-1) ?? 0);
}

function nameOf(trial: Timeline): string {
  return `${trial.arm}-${trial.round}`;
}
