// What the chart of a trend draws: a line for each server, over runs or time.

import type { Trend } from '../data/trend';
import type { Manifest, Unit } from '../data/types';
import type { Mark } from '../parts/badges';
import type { ChartProps } from '../parts/chart';
import { RunLink } from '../parts/page';
import type { Line, Plot } from '../parts/plot';
import { type Stroke, serverStroke } from '../theme';
import { formatDay, formatQuantity, formatTime } from '../units';

const HEIGHT = 380;
const FIRST_VALUES = 5;

/** What the address says about the chart. */
export interface Choices {
  /** servers to show; all but the hidden ones if it is empty */
  only: string[];
  hidden: string[];
  /** `value`, `log`, or `first`: relative to the first values */
  scale: string;
  /** `run` or `time` */
  along: string;
  /** id of the pinned run */
  pin: string;
}

/** In an address, shows all servers where only the first ones would be shown without it. */
export const ALL = '*';
/** The number of servers that are shown until a reader chooses, if there are too many to distinguish. */
const FIRST = 4;
const TOO_MANY = 7;

/** `best` are the servers with values, those with the best newest value first. */
export function choicesOf(query: URLSearchParams, best: string[]): Choices {
  const only = query.getAll('s');
  const hidden = query.getAll('hide');
  const first = !only.length && !hidden.length && best.length >= TOO_MANY ? best.slice(0, FIRST) : only;
  return {
    only: only.includes(ALL) ? [] : first,
    hidden,
    scale: query.get('y') ?? 'value',
    along: query.get('x') ?? 'run',
    pin: query.get('pin') ?? '',
  };
}

export function shows({ only, hidden }: Choices, server: string): boolean {
  return only.length ? only.includes(server) : !hidden.includes(server);
}

/** The address after a server was shown or hidden. */
export function toggled({ only, hidden }: Choices, servers: string[], server: string): Record<string, string[] | null> {
  const other = (list: string[]) =>
    list.includes(server) ? list.filter((each) => each !== server) : [...list, server];
  if (!only.length) {
    const hide = other(hidden);
    return { hide, s: hide.length ? null : [ALL] };
  }
  const next = other(only);
  return { s: next, hide: next.length ? null : servers };
}

/** Servers by their newest value of a trend. */
export function bestFirst(trend: Trend, servers: string[], lower: boolean): string[] {
  const newest = (server: string) => trend.servers[server]?.values.findLast((value) => value !== null) ?? null;
  const known = servers.filter((server) => newest(server) !== null);
  return known.sort((a, b) => ((newest(a) ?? 0) - (newest(b) ?? 0)) * (lower ? 1 : -1));
}

interface Drawn {
  looks: Manifest['looks'];
  trend: Trend;
  choices: Choices;
  unit: Unit;
  /** servers with values */
  names: string[];
  /** whether to draw where the next run of a server is expected */
  bands: boolean;
  badges: Mark[];
}

export function plotOf({ looks, trend, choices, unit, names, bands, badges }: Drawn): Plot {
  const { scale, along } = choices;
  const relative = scale === 'first';
  const lines = names.map((server) =>
    line(trend, server, serverStroke(looks, server), shows(choices, server), bands, relative),
  );
  const pinned = trend.ids.indexOf(choices.pin);
  return {
    x: along === 'time' ? trend.times : trend.ids.map((_, index) => index),
    xFormat: (x) => formatDay(along === 'time' ? x : (trend.times[Math.round(x)] ?? trend.times.at(-1) ?? 0)),
    yFormat: (y) => (relative ? `${Math.round(y * 100)} %` : formatQuantity(y, unit)),
    ...(relative ? {} : { unit }),
    time: along === 'time',
    log:
      scale === 'log' && lines.some((each) => each.shown && each.values.some((value) => value !== null && value > 0)),
    lines,
    marks: badges,
    ends: true,
    pinned: pinned < 0 ? null : pinned,
    height: HEIGHT,
  };
}

/** The first columns of the chart's table. */
export function rowsOf(trend: Trend, badges: Mark[]): ChartProps['rows'] {
  const markCell = (index: number) => ({
    text: badges
      .filter((each) => each.index === index)
      .map((each) => each.text)
      .join(' '),
    kind: 'wide',
  });
  return {
    titles: ['Run', 'Time', 'Commit', 'Subject', ...(badges.length ? ['Marks'] : [])],
    cells: (index) => [
      { text: trend.ids[index] ?? '', show: <RunLink id={trend.ids[index] ?? ''} /> },
      { text: formatTime(trend.times[index] ?? 0), value: new Date((trend.times[index] ?? 0) * 1e3).toISOString() },
      { text: trend.commits[index] ?? '' },
      { text: trend.subjects[index] ?? '' },
      ...(badges.length ? [markCell(index)] : []),
    ],
  };
}

function line(trend: Trend, server: string, stroke: Stroke, shown: boolean, bands: boolean, relative: boolean): Line {
  const found = trend.servers[server];
  const values = found?.values ?? [];
  const first = relative ? median(values.filter((value) => value !== null).slice(0, FIRST_VALUES)) : 1;
  const scaled = (value: number | null) => (value === null || !first ? null : value / first);
  return {
    label: server,
    values: relative ? values.map(scaled) : values,
    stroke,
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

export function describe(trend: Trend, index: number): string {
  const commit = trend.commits[index] ? `, ${trend.commits[index]?.slice(0, 7)}` : '';
  return `${formatTime(trend.times[index] ?? 0)}${commit}: ${trend.subjects[index] ?? ''}`;
}
