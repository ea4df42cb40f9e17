// The text around the chart of a trend: the range above it, the pinned run, level changes and neighbours below it.

import type { Range, Trend } from '../data/trend';
import type { Combination, Manifest, Mark, Unit } from '../data/types';
import { AtCommit, CommitLink, combinationTitle, RunLink, Subject } from '../parts/page';
import { here, href } from '../route';
import { formatChange, formatDay, formatQuantity, formatTime } from '../units';
import { MarkText } from './marks';

export function RangeLinks({ chosen, trend, range }: { chosen: Combination; trend: Trend; range: Range | null }) {
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

export function Pinned({
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
        <RunLink id={run}>{formatTime(trend.times[index] ?? 0)}</RunLink>, <AtCommit manifest={manifest} commit={to} />:{' '}
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

export function Changes({
  manifest,
  trend,
  unit,
  names,
}: {
  manifest: Manifest;
  trend: Trend;
  unit: Unit;
  names: string[];
}) {
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

/** Another machine, kernel, engine or method begins a series of its own; these links lead to the other series. */
export function Neighbours({ manifest, chosen }: { manifest: Manifest; chosen: Combination }) {
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
