// A metric of one or several servers of a run against the load of its stages, with the limit.

import { type Capacities, type Capacity, loadCapacities, seriesBeside } from '../data/capacity';
import { type Curve, curveMetrics, curveOf, type Kind, kindsOf, limitOf } from '../data/curves';
import { useLoaded } from '../data/load';
import type { Run, RunServer } from '../data/run-types';
import type { Manifest, Words } from '../data/types';
import { metricTitle, unitOf } from '../data/words';
import { serverStroke } from '../theme';
import { formatNumber, formatQuantity } from '../units';
import { nearLimit, type Upright } from './bounds';
import { Chart } from './chart';
import { Choice } from './page';
import type { Plot } from './plot';

const HEIGHT = 320;
const HEIGHT_OF_SMALL = 230;
/** The ratio of the largest to the least load from which the axis is logarithmic. */
const WIDE = 8;
/** least distance between two numbers of the axis, as a share of its length */
const CLOSE = 0.07;
/** room beyond the first and the last load, on a logarithmic and on another axis */
const [BEYOND_FACTOR, BEYOND_SHARE] = [1.12, 0.05];
/** Fewer points reveal little about what lies between them. */
const ENOUGH = 4;

interface CurveProps {
  manifest: Manifest;
  words: Words;
  run: Run;
  servers: RunServer[];
  kind: Kind;
  metric: string;
  hidden?: string[];
  /** the capacities of the servers, if they are known at the same load */
  capacities: Capacities;
  onToggle?: (server: string) => void;
  onOnly?: (server: string) => void;
}

interface Props {
  manifest: Manifest;
  words: Words;
  query: URLSearchParams;
  run: Run;
}

/** All servers of a run in one chart, of the metric that a reader chooses. */
export function LoadCurves({
  manifest,
  words,
  query,
  run,
  hidden,
  onToggle,
  onOnly,
}: Props & Required<Pick<CurveProps, 'hidden' | 'onToggle' | 'onOnly'>>) {
  const { kinds, kind } = chosenKind(words, query, run);
  const { capacities, busy } = useCapacities(manifest, run, kind);
  if (!kind) return <TooFew run={run} words={words} />;
  const metrics = curveMetrics(words, run.servers, kind);
  const asked = query.get('curve') ?? '';
  const metric = metrics.includes(asked) ? asked : (metrics[0] ?? words.headline);
  return (
    <>
      <div class="controls">
        <Choice
          label="Metric"
          name="curve"
          value={metric}
          options={metrics.map((value) => ({ value, text: metricTitle(words, value) }))}
        />
        <KindChoice kinds={kinds} kind={kind} />
      </div>
      <div aria-busy={busy}>
        <CurveChart
          {...{ manifest, words, run, kind, metric, hidden, capacities, onToggle, onOnly }}
          servers={run.servers.filter((server) => server.stages.length)}
          height={HEIGHT}
        />
        <About kind={kind} marked={run.servers.length > 1 && Object.keys(capacities).length > 0} />
      </div>
    </>
  );
}

/** One server of a run: latency, loss and CPU beside each other. */
export function ServerCurves({ manifest, words, query, run, server }: Props & { server: RunServer }) {
  const { kinds, kind } = chosenKind(words, query, run);
  const { capacities, busy } = useCapacities(manifest, run, kind);
  if (!kind) return <TooFew run={run} words={words} />;
  return (
    <>
      <KindChoice kinds={kinds} kind={kind} />
      <div class="stack" aria-busy={busy}>
        {curveMetrics(words, [server], kind).map((metric) => (
          <CurveChart
            key={metric}
            {...{ manifest, words, run, kind, metric, capacities }}
            servers={[server]}
            height={HEIGHT_OF_SMALL}
          />
        ))}
      </div>
      <About kind={kind} />
    </>
  );
}

/** The capacities, once they are loaded. Until then the curve is drawn without them, and is busy. */
function useCapacities(manifest: Manifest, run: Run, kind: Kind | undefined): { capacities: Capacities; busy?: true } {
  const series = kind && seriesBeside(manifest, run, kind);
  const loaded = useLoaded(series?.id ?? '', async () => (series ? loadCapacities(series) : {}));
  if (loaded.state === 'ready') return { capacities: loaded.value };
  return loaded.state === 'loading' ? { capacities: {}, busy: true } : { capacities: {} };
}

/** The kinds with several loads, and the one that the address names. */
function chosenKind(words: Words, query: URLSearchParams, run: Run): { kinds: Kind[]; kind: Kind | undefined } {
  const kinds = kindsOf(run, words).filter((each) => each.stages.length > 1);
  return { kinds, kind: kinds.find((each) => each.key === query.get('load')) ?? kinds[0] };
}

function KindChoice({ kinds, kind }: { kinds: Kind[]; kind: Kind }) {
  if (kinds.length < 2) return null;
  const options = kinds.map(({ key, title, unit }) => ({ value: key, text: title ? `${unit}, ${title}` : unit }));
  return <Choice label="Load" name="load" value={kind.key} options={options} />;
}

function TooFew({ run, words }: { run: Run; words: Words }) {
  const [kind] = kindsOf(run, words);
  const [stage] = kind?.stages ?? [];
  return (
    <p class="empty">
      {kind && stage
        ? `This run has one load, ${formatNumber(stage.load)} ${kind.unit}: a curve needs several.`
        : 'This run has no stages whose loads can be compared.'}
    </p>
  );
}

function About({ kind: { stages }, marked = false }: { kind: Kind; marked?: boolean }) {
  return (
    <p class="aside">
      {stages.length < ENOUGH && `Only ${stages.length} loads were measured, and nothing between them. `}
      All points are from this run. A whisker reaches from the smallest to the largest trial; a cross at the lower edge
      marks a stage without a valid trial.
      {marked && ' A marker at the upper edge is a capacity that a search found; the legend shows the number.'}
    </p>
  );
}

function CurveChart(props: CurveProps & { height: number }) {
  const { words, run, servers, kind, metric, hidden = [], onToggle, onOnly } = props;
  const plot = plotOf(props);
  const loads = kind.stages.map((each) => each.load);
  const limit = limitOf(words, metric);
  const highest = Math.max(
    0,
    ...plot.lines.flatMap((line) => (line.shown ? line.values.map((each) => each ?? 0) : [])),
  );
  const title = `${metricTitle(words, metric)} against ${kind.unit}${kind.title && ` (${kind.title})`}`;
  const near = limit && nearLimit(plot, highest) !== null;
  return (
    <Chart
      title={limit && !near ? `${title}; the limit is ${formatQuantity(limit.value, unitOf(words, metric))}` : title}
      version={JSON.stringify([
        run.run.id,
        kind.key,
        metric,
        plot.uprights,
        servers.map((each) => each.server),
        hidden,
      ])}
      plot={plot}
      describe={(index) => `${formatNumber(loads[index] ?? 0)} ${kind.unit}`}
      rows={{
        titles: [kind.unit],
        cells: (index) => [{ text: formatNumber(loads[index] ?? 0), value: loads[index] ?? null }],
      }}
      {...(onToggle ? { onToggle } : {})}
      {...(onOnly ? { onOnly } : {})}
      empty="No stage has a valid value."
    />
  );
}

function plotOf(props: CurveProps & { height: number }): Plot {
  const { manifest, words, servers, kind, metric, hidden = [], capacities, height } = props;
  const loads = kind.stages.map((each) => each.load);
  const unit = unitOf(words, metric);
  const curves = servers.map((server) => curveOf(server, kind, metric));
  const limit = limitOf(words, metric);
  const uprights = uprightsOf(props);
  return {
    x: loads,
    xFormat: formatNumber,
    ...axisOf(loads, uprights),
    uprights,
    yFormat: (value) => formatQuantity(value, unit),
    unit,
    log: unit === 'seconds' && metric === words.headline && curves.some(isPositive),
    lines: servers.map((server, index) => ({
      label: server.server,
      note: servers.length > 1 ? carries(capacities[server.server]) : '',
      stroke: serverStroke(manifest.looks, server.server),
      shown: !hidden.includes(server.server),
      ...(curves[index] ?? { values: [] }),
    })),
    ends: true,
    ...(limit ? { limit: { value: limit.value, label: `limit ${formatQuantity(limit.value, unit)}` } } : {}),
    height,
  };
}

/**
 * The capacity of each shown server. If there are several, the legend names them: the names would not fit side by side.
 */
function uprightsOf({ manifest, servers, hidden = [], capacities }: CurveProps): Upright[] {
  return servers.flatMap(({ server }) => {
    const x = capacities[server]?.carried ?? 0;
    const { colour, marker } = serverStroke(manifest.looks, server);
    if (hidden.includes(server) || x <= 0) return [];
    return [
      { x, colour, ...(servers.length > 1 ? { marker: marker ?? 'circle' } : { label: carries(capacities[server]) }) },
    ];
  });
}

/** `carries 5,260`; empty if nothing is known. */
function carries(capacity: Capacity | undefined): string {
  const carried = capacity?.carried ?? 0;
  return carried > 0 ? `carries ${capacity?.at_least ? '\u2265 ' : ''}${formatNumber(carried)}` : '';
}

const isPositive = ({ values }: Curve) => values.some((value) => value !== null && value > 0);

/** The x axis, with room at both ends; its numbers are the loads, without those that would overlap. */
function axisOf(loads: number[], uprights: { x: number }[]): Pick<Plot, 'xLog' | 'xRange' | 'xSteps'> {
  const least = loads[0] ?? 1;
  const largest = Math.max(loads.at(-1) ?? 1, ...uprights.map(({ x }) => x));
  const xLog = least > 0 && largest / least >= WIDE;
  const room = (largest - least || largest) * BEYOND_SHARE;
  const xRange: [number, number] = xLog
    ? [least / BEYOND_FACTOR, largest * BEYOND_FACTOR]
    : [Math.max(0, least - room), largest + room];
  const place = (load: number) =>
    xLog ? Math.log(load / least) / Math.log(largest / least) : (load - least) / (largest - least || 1);
  const xSteps: number[] = [];
  for (const load of [...loads].reverse()) {
    const next = xSteps[0];
    if (next === undefined || place(next) - place(load) >= CLOSE) xSteps.unshift(load);
  }
  return { xLog, xRange, xSteps };
}
