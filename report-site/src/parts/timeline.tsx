// One trial by the second: charts below each other with one time axis and one cursor.

import { useLoaded } from '../data/load';
import type { Run, RunServer, Timeline } from '../data/run-types';
import { loadTimelines } from '../data/timelines';
import type { Unit, Words } from '../data/types';
import { capital, headlineLatency, latencyTitle } from '../data/words';
import { stroke } from '../theme';
import { formatNumber, formatQuantity } from '../units';
import { Chart } from './chart';
import { Pick, Shown } from './page';
import type { Line } from './plot';

/** On a phone the axes take most of a low chart. */
const [HEIGHT, HEIGHT_OF_NARROW, NARROW] = [170, 230, 700];

type Columns = Record<string, (number | null)[]>;

interface Picture {
  title: string;
  of: 'timeline' | 'resources';
  format: (value: number) => string;
  unit?: Unit;
  log?: boolean;
  lines: [string, string][];
}

/** The charts of a trial, in the words of its suite. */
function picturesOf(words: Words): Picture[] {
  const { exchanges, work } = words;
  return [
    { title: 'Clients', of: 'timeline', format: formatNumber, lines: [['clients', 'clients']] },
    {
      title: `${capital(exchanges)} and ${work} a second`,
      of: 'timeline',
      format: formatNumber,
      lines: [
        ['sent', exchanges],
        ['received', work],
      ],
    },
    {
      title: capital(latencyTitle(words, headlineLatency(words))),
      of: 'timeline',
      format: (value) => formatQuantity(value, 'seconds'),
      log: true,
      lines: [
        ['latency_p50_seconds', 'p50'],
        ['latency_p95_seconds', 'p95'],
        ['latency_p99_seconds', 'p99'],
        ['latency_max_seconds', 'max'],
      ],
    },
    ...OF_EVERY_SUITE,
  ];
}

const OF_EVERY_SUITE: Picture[] = [
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
    unit: 'bytes',
    lines: [['memory_bytes', 'server']],
  },
  {
    title: 'Network',
    of: 'timeline',
    format: (value) => formatQuantity(value, 'bytes_per_second'),
    unit: 'bytes_per_second',
    lines: [
      ['network_in_bytes', 'in'],
      ['network_out_bytes', 'out'],
    ],
  },
  { title: 'Threads', of: 'resources', format: formatNumber, lines: [['threads', 'server']] },
];

interface Props {
  words: Words;
  run: Run;
  server: RunServer;
  query: URLSearchParams;
}

export function TrialTimeline({ words, run, server, query }: Props) {
  const key = JSON.stringify([run.run.id, server.server]);
  const loaded = useLoaded(key, () => loadTimelines(run.run.id, server.server));
  return (
    <section aria-labelledby="timeline">
      <h3 id="timeline">Second by second</h3>
      <Shown loaded={loaded}>
        {({ trials }) => (
          <Pictures words={words} server={server.server} timelines={trials} asked={query.get('trial')} />
        )}
      </Shown>
    </section>
  );
}

interface PicturesProps {
  words: Words;
  server: string;
  timelines: Timeline[];
  asked: string | null;
}

function Pictures({ words, server, timelines, asked }: PicturesProps) {
  const trial = timelines.find((each) => nameOf(each) === asked) ?? timelines[0];
  if (!trial) return <p class="empty">The record has no trial of this server.</p>;
  const options = timelines.map((each) => ({
    value: nameOf(each),
    text: `round ${each.round}${each.arm === 'base' ? ' of the base' : ''}`,
  }));
  return (
    <>
      {timelines.length > 1 && <Pick label="Trial" name="trial" value={nameOf(trial)} options={options} />}
      <p class="aside">
        Shaded: the steady windows; only these are measured. A loss is shown where it was due. Network in is what
        clients sent to the server, out what it sent to them.
      </p>
      <div class="stack">
        {picturesOf(words).map((picture) => (
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
        ...(picture.unit ? { unit: picture.unit } : {}),
        ...(picture.log && lines.some((line) => line.values.some((value) => value)) ? { log: true } : {}),
        lines,
        spans: trial.stages.map(([from, to, label]) => ({ from, to, label })),
        height: innerWidth < NARROW ? HEIGHT_OF_NARROW : HEIGHT,
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

/**
 * The last second of all charts of a trial: resources are sampled for some seconds more or fewer than the load lasts.
 */
function lastSecond({ timeline, resources }: Timeline): number {
  return Math.max(1, (timeline?.clients?.length ?? 0) - 1, resources?.seconds?.at(-1) ?? 0);
}

function nameOf(trial: Timeline): string {
  return `${trial.arm}-${trial.round}`;
}
