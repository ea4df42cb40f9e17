// One metric of many servers over runs, joined from the windows that a range needs. Pure except for `loadTrend`.

import { dictionary, load, part } from './load';
import type { Change, Combination, Level, Window, WindowRuns, WindowSeries } from './types';

export interface Trend {
  /** index of the first run in the combination */
  from: number;
  ids: string[];
  times: number[];
  commits: string[];
  subjects: string[];
  servers: Record<string, { values: (number | null)[]; levels: Level[]; changes: Change[]; invalid: number[] }>;
}

export interface Range {
  from: number;
  to: number;
}

/** The windows that contain any run of the range; only the recent one if no range is requested. */
export function windowsOf(combination: Combination, range: Range | null): Window[] {
  const wanted = range ?? { from: combination.windows.at(-1)?.from ?? 0, to: combination.runs - 1 };
  return combination.windows.filter((window) => window.from <= wanted.to && window.to > wanted.from);
}

export async function loadTrend(
  combination: Combination,
  stage: string,
  metric: string,
  range: Range | null,
): Promise<Trend> {
  const windows = windowsOf(combination, range);
  const parts = await Promise.all(
    windows.map((window) => {
      const folder = `${combination.id}/${window.name}`;
      return Promise.all([
        load<WindowRuns>(`${folder}/runs`, window.version),
        load<WindowSeries>(`${folder}/${part(stage)}/${part(metric)}`, window.version),
      ]);
    }),
  );
  return cut(joined(parts), range);
}

/** Joins consecutive windows; a server that is missing in a window has a gap there. */
export function joined(parts: [WindowRuns, WindowSeries][]): Trend {
  const runs = parts.map(([each]) => each);
  const servers: Trend['servers'] = dictionary([]);
  const names = new Set(parts.flatMap(([, series]) => Object.keys(series.servers)));
  for (const name of [...names].sort()) {
    const all: Trend['servers'][string] = { values: [], levels: [], changes: [], invalid: [] };
    for (const [window, series] of parts) {
      const shift = all.values.length;
      const found = series.servers[name];
      for (let index = 0; index < window.ids.length; index++) all.values.push(found?.values[index] ?? null);
      for (const [begin, end, ...band] of found?.levels ?? []) all.levels.push([begin + shift, end + shift, ...band]);
      for (const [index, before, after] of found?.changes ?? []) all.changes.push([index + shift, before, after]);
      for (const index of window.invalid[name] ?? []) all.invalid.push(index + shift);
    }
    servers[name] = all;
  }
  return {
    from: runs[0]?.from ?? 0,
    ids: runs.flatMap((each) => each.ids),
    times: runs.flatMap((each) => each.times),
    commits: runs.flatMap((each) => each.commits),
    subjects: runs.flatMap((each) => each.subjects),
    servers,
  };
}

/** Only the runs of the range. */
export function cut(trend: Trend, range: Range | null): Trend {
  if (!range) return trend;
  const begin = Math.max(0, range.from - trend.from);
  const end = Math.min(trend.ids.length, range.to - trend.from + 1);
  const servers = dictionary(
    Object.entries(trend.servers).map(([name, each]): [string, Trend['servers'][string]] => [
      name,
      {
        values: each.values.slice(begin, end),
        levels: each.levels
          .filter(([first, last]) => last > begin && first < end)
          .map(
            ([first, last, ...band]): Level => [Math.max(first, begin) - begin, Math.min(last, end) - begin, ...band],
          ),
        changes: each.changes
          .filter(([at]) => at >= begin && at < end)
          .map(([at, ...rest]): Change => [at - begin, ...rest]),
        invalid: each.invalid.filter((at) => at >= begin && at < end).map((at) => at - begin),
      },
    ]),
  );
  return {
    from: trend.from + begin,
    ids: trend.ids.slice(begin, end),
    times: trend.times.slice(begin, end),
    commits: trend.commits.slice(begin, end),
    subjects: trend.subjects.slice(begin, end),
    servers,
  };
}

/** The range of a text such as `120-480`; null if it is no range of the combination. */
export function parseRange(text: string | null, runs: number): Range | null {
  const found = /^(\d+)-(\d+)$/.exec(text ?? '');
  if (!found) return null;
  const range = { from: Number(found[1]), to: Math.min(Number(found[2]), runs - 1) };
  return range.from < range.to ? range : null;
}
