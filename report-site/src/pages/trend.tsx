// One metric over runs or time, for several servers.

import { useLoaded } from '../data/load';
import { loadMarks, type Marked } from '../data/marks';
import { countedOtherwise } from '../data/method';
import { loadTrend, parseRange, type Range, type Trend } from '../data/trend';
import type { Combination, Manifest, Mark } from '../data/types';
import { Chart } from '../parts/chart';
import {
  Choice,
  CombinationPick,
  CommitLink,
  chosenCombination,
  combinationTitle,
  metricTitle,
  NoSuch,
  Pick,
  RunLink,
  Shown,
  Subject,
} from '../parts/page';
import type { Line, Plot } from '../parts/plot';
import { go, here, href } from '../route';
import { stroke } from '../theme';
import { formatChange, formatDay, formatQuantity, formatTime } from '../units';
import { asBadge, MarkList, MarkText, marksOf } from './marks';

const DEFAULT_METRIC = 'cpu_seconds_per_delivery';
const BANDS_UP_TO = 4;
const HEIGHT = 380;
const FIRST_VALUES = 5;

interface Props {
  manifest: Manifest;
  query: URLSearchParams;
}

export function TrendPage({ manifest, query }: Props) {
  const chosen = chosenCombination(manifest, query);
  if (!chosen) return <NoSuch title="Trend" query={query} />;
  const asked = query.get('metric') ?? DEFAULT_METRIC;
  const metric = chosen.metrics.includes(asked) ? asked : (chosen.metrics[0] ?? asked);
  const stage = chosen.stages.find((each) => each.name === query.get('stage')) ?? largest(chosen);
  const range = parseRange(query.get('range'), chosen.runs);
  return (
    <>
      <h1>Trend</h1>
      <div class="controls">
        <CombinationPick manifest={manifest} chosen={chosen} forget={['range', 'pin', 's', 'hide']} />
        <Pick
          label="Metric"
          name="metric"
          value={metric}
          options={chosen.metrics.map((each) => ({ value: each, text: metricTitle(manifest, each) }))}
        />
        <Pick
          label="Stage"
          name="stage"
          value={stage?.name ?? ''}
          options={chosen.stages.map((each) => ({
            value: each.name,
            text: each.name === String(each.clients) ? `${each.clients.toLocaleString('en-US')} clients` : each.name,
          }))}
        />
        <Choice
          label="Along"
          name="x"
          value={query.get('x') ?? 'run'}
          options={[
            { value: 'run', text: 'runs' },
            { value: 'time', text: 'time' },
          ]}
        />
        <Choice
          label="Values"
          name="y"
          value={query.get('y') ?? 'value'}
          options={[
            { value: 'value', text: 'as they are' },
            { value: 'log', text: 'logarithmic' },
            { value: 'first', text: '% of the first' },
          ]}
        />
      </div>
      {stage && (
        <Chosen manifest={manifest} query={query} chosen={chosen} metric={metric} stage={stage.name} range={range} />
      )}
    </>
  );
}

function largest(combination: Combination) {
  const plain = combination.stages.filter((stage) => stage.name === String(stage.clients));
  return plain.at(-1) ?? combination.stages.at(-1);
}

interface ChosenProps extends Props {
  chosen: Combination;
  metric: string;
  stage: string;
  range: Range | null;
}

function Chosen({ manifest, query, chosen, metric, stage, range }: ChosenProps) {
  const key = JSON.stringify([chosen.id, metric, stage, range]);
  const loaded = useLoaded(key, () => Promise.all([loadTrend(chosen, stage, metric, range), loadMarks(chosen)]));
  return (
    <Shown loaded={loaded}>
      {([trend, marked]) => (
        <Drawn
          manifest={manifest}
          query={query}
          chosen={chosen}
          metric={metric}
          stage={stage}
          range={range}
          trend={trend}
          marked={marked}
          id={key}
        />
      )}
    </Shown>
  );
}

function Drawn({
  manifest,
  query,
  chosen,
  metric,
  stage,
  range,
  trend,
  marked,
  id,
}: ChosenProps & { trend: Trend; marked: Marked; id: string }) {
  const only = query.getAll('s');
  const hidden = query.getAll('hide');
  const shows = (server: string) => (only.length ? only.includes(server) : !hidden.includes(server));
  const unit = manifest.metrics[metric]?.unit ?? 'count';
  const scale = query.get('y') ?? 'value';
  const along = query.get('x') ?? 'run';
  const relative = scale === 'first';
  const names = chosen.servers.filter((server) => trend.servers[server]);
  const bands = names.filter(shows).length <= BANDS_UP_TO;
  const marks = marksOf(marked, trend, bands ? names.filter(shows) : []);
  const badges = marks.map(asBadge);
  const otherwise = countedOtherwise(manifest, [metric], chosen.method);
  const lines = names.map((server) =>
    line(trend, server, chosen.servers.indexOf(server), shows(server), bands, relative),
  );
  const pinned = trend.ids.indexOf(query.get('pin') ?? '');
  const plot: Plot = {
    x: along === 'time' ? trend.times : trend.ids.map((_, index) => index),
    xFormat: (x) => formatDay(along === 'time' ? x : (trend.times[Math.round(x)] ?? trend.times.at(-1) ?? 0)),
    yFormat: (y) => (relative ? `${Math.round(y * 100)} %` : formatQuantity(y, unit)),
    time: along === 'time',
    log:
      scale === 'log' && lines.some((each) => each.shown && each.values.some((value) => value !== null && value > 0)),
    lines,
    marks: badges,
    pinned: pinned < 0 ? null : pinned,
    height: HEIGHT,
  };
  const toggle = (server: string) => {
    if (only.length) {
      const next = only.includes(server) ? only.filter((each) => each !== server) : [...only, server];
      go({ s: next, hide: next.length ? null : chosen.servers });
    } else go({ hide: hidden.includes(server) ? hidden.filter((each) => each !== server) : [...hidden, server] });
  };
  return (
    <>
      <RangeLinks chosen={chosen} trend={trend} range={range} />
      <Chart
        title={`${metricTitle(manifest, metric)}, stage ${stage}, ${chosen.suite} ${chosen.profile}`}
        plot={plot}
        version={JSON.stringify([id, scale, along, only, hidden, plot.pinned])}
        describe={(index) => describe(trend, index)}
        rows={{
          titles: ['Run', 'Time', 'Commit', 'Subject', ...(badges.length ? ['Marks'] : [])],
          cells: (index) => [
            { text: trend.ids[index] ?? '', show: <RunLink id={trend.ids[index] ?? ''} /> },
            {
              text: formatTime(trend.times[index] ?? 0),
              value: new Date((trend.times[index] ?? 0) * 1e3).toISOString(),
            },
            { text: trend.commits[index] ?? '' },
            { text: trend.subjects[index] ?? '' },
            ...(badges.length
              ? [
                  {
                    text: badges
                      .filter((each) => each.index === index)
                      .map((each) => each.text)
                      .join(' '),
                    kind: 'wide',
                  },
                ]
              : []),
          ],
        }}
        onToggle={toggle}
        onOnly={(server) => go({ s: server, hide: null })}
        onZoom={(from, to) => go({ range: `${trend.from + from}-${trend.from + Math.max(to, from + 1)}` })}
        onPin={(index) => go({ pin: index === plot.pinned ? null : (trend.ids[index] ?? null) })}
        empty="No run of these measured it. Another metric or stage may have values."
      />
      {(only.length > 0 || hidden.length > 0) && (
        <p>
          <a href={here({ s: null, hide: null })}>Show all servers</a>
        </p>
      )}
      {pinned >= 0 && (
        <Pinned
          manifest={manifest}
          chosen={chosen}
          trend={trend}
          index={pinned}
          marks={marks.filter((mark) => mark.at === pinned)}
        />
      )}
      <Changes manifest={manifest} trend={trend} metric={metric} names={names.filter(shows)} />
      <MarkList manifest={manifest} trend={trend} marks={marks} marked={marked} />
      {otherwise && <p class="aside">{otherwise}</p>}
      <Neighbours manifest={manifest} chosen={chosen} />
      <p class="aside">
        Band and line behind a server: where its next run should lie, three standard deviations around the level of its
        last 20 runs, drawn for up to {BANDS_UP_TO} servers. Triangles: its level changed there. Crosses at the lower
        edge: no valid trial. Above the chart: releases (dashed), other environments (solid), another harness and, for
        up to {BANDS_UP_TO} servers, other versions that they report (dotted). Drag to zoom, click to pin.
      </p>
    </>
  );
}

function line(trend: Trend, server: string, index: number, shown: boolean, bands: boolean, relative: boolean): Line {
  const found = trend.servers[server];
  const values = found?.values ?? [];
  const first = relative ? median(values.filter((value) => value !== null).slice(0, FIRST_VALUES)) : 1;
  const scaled = (value: number | null) => (value === null || !first ? null : value / first);
  return {
    label: server,
    values: relative ? values.map(scaled) : values,
    stroke: stroke(index),
    shown,
    ...(bands
      ? {
          levels: (found?.levels ?? []).map(([begin, end, low, level, high]) => [
            begin,
            end,
            scaled(low),
            scaled(level),
            scaled(high),
          ]),
        }
      : {}),
    changes: (found?.changes ?? []).map(([at, before, after]) => ({ index: at, up: after > before })),
    invalid: found?.invalid ?? [],
  };
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function describe(trend: Trend, index: number): string {
  const commit = trend.commits[index] ? `, ${trend.commits[index]?.slice(0, 7)}` : '';
  return `${formatTime(trend.times[index] ?? 0)}${commit}: ${trend.subjects[index] ?? ''}`;
}

function RangeLinks({ chosen, trend, range }: { chosen: Combination; trend: Trend; range: Range | null }) {
  const width = trend.ids.length;
  const wider = {
    from: Math.max(0, trend.from - Math.ceil(width / 2)),
    to: Math.min(chosen.runs - 1, trend.from + width + Math.ceil(width / 2)),
  };
  const years = [...new Set(chosen.windows.map((window) => window.name))].filter((name) => name !== 'recent');
  return (
    <p class="ranges">
      <span>
        Runs {(trend.from + 1).toLocaleString('en-US')} to {(trend.from + width).toLocaleString('en-US')} of{' '}
        {chosen.runs.toLocaleString('en-US')}
      </span>
      {range && <a href={here({ range: null })}>Recent</a>}
      {width < chosen.runs && <a href={here({ range: `${wider.from}-${wider.to}` })}>Zoom out</a>}
      {width < chosen.runs && <a href={here({ range: `0-${chosen.runs - 1}` })}>All</a>}
      {years.map((year) => {
        const of = chosen.windows.filter((window) => window.name === year);
        return (
          <a key={year} href={here({ range: `${of[0]?.from}-${(of.at(-1)?.to ?? 1) - 1}` })}>
            {year}
          </a>
        );
      })}
    </p>
  );
}

function Pinned({
  manifest,
  chosen,
  trend,
  index,
  marks,
}: {
  manifest: Manifest;
  chosen: Combination;
  trend: Trend;
  index: number;
  marks: Mark[];
}) {
  const run = trend.ids[index] ?? '';
  const before = trend.ids[index - 1];
  const [from, to] = [trend.commits[index - 1], trend.commits[index]];
  return (
    <section class="panel" aria-label="Pinned run">
      <p class="lead">
        <RunLink id={run}>{formatTime(trend.times[index] ?? 0)}</RunLink>, commit{' '}
        <CommitLink manifest={manifest} commit={to} />:{' '}
        <Subject manifest={manifest} text={trend.subjects[index] ?? ''} />
      </p>
      {marks.map((mark, number) => (
        <p key={number}>
          <MarkText manifest={manifest} mark={mark} />
        </p>
      ))}
      <p class="links">
        <RunLink id={run}>the run</RunLink>
        {before && (
          <a href={href('compare', { of: 'runs', a: before, b: run, c: chosen.id })}>compare with the run before</a>
        )}
        {manifest.repository && from && to && (
          <a href={`${manifest.repository}/compare/${from}...${to}`}>commits since then</a>
        )}
        <a href={here({ pin: null })}>unpin</a>
      </p>
    </section>
  );
}

function Changes({
  manifest,
  trend,
  metric,
  names,
}: {
  manifest: Manifest;
  trend: Trend;
  metric: string;
  names: string[];
}) {
  const unit = manifest.metrics[metric]?.unit ?? 'count';
  const found = names
    .flatMap((server) =>
      (trend.servers[server]?.changes ?? []).map(([at, before, after]) => ({ server, at, before, after })),
    )
    .sort((a, b) => b.at - a.at);
  if (!found.length) return null;
  return (
    <details class="changes" open={found.length <= 8}>
      <summary>
        {found.length} level change{found.length > 1 ? 's' : ''}
      </summary>
      <ul>
        {found.map(({ server, at, before, after }) => (
          <li key={`${server} ${at}`}>
            <a href={here({ pin: trend.ids[at] ?? null })}>{formatDay(trend.times[at] ?? 0)}</a> {server}{' '}
            {formatChange(after / before - 1)} ({formatQuantity(before, unit)} to {formatQuantity(after, unit)}),{' '}
            <CommitLink manifest={manifest} commit={trend.commits[at - 1]} />
            ..
            <CommitLink manifest={manifest} commit={trend.commits[at]} />{' '}
            <Subject manifest={manifest} text={trend.subjects[at] ?? ''} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Another machine, kernel, engine or method begins a series of its own; this says where the story goes on. */
function Neighbours({ manifest, chosen }: { manifest: Manifest; chosen: Combination }) {
  const others = manifest.combinations.filter(
    (each) =>
      each.id !== chosen.id &&
      each.suite === chosen.suite &&
      each.profile === chosen.profile &&
      each.environment !== chosen.environment,
  );
  if (!others.length) return null;
  return (
    <p class="aside">
      Measured in other environments, which must not be compared with this one:{' '}
      {others.map((each, index) => (
        <span key={each.id}>
          {index > 0 && '; '}
          <a href={here({ c: each.id, range: null, pin: null })}>{combinationTitle(manifest, each)}</a> from{' '}
          {formatDay(each.first)} to {formatDay(each.last)}
        </span>
      ))}
    </p>
  );
}
