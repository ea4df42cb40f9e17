// The words for marks of a trend, and the list of them below it.

import type { Marked } from '../data/marks';
import type { Trend } from '../data/trend';
import type { Manifest, Mark, Moved } from '../data/types';
import type * as badges from '../parts/badges';
import { Outside } from '../parts/page';
import { here } from '../route';
import { formatDay } from '../units';

/** The marks of the shown runs; marks of versions only for these servers. */
export function marksOf(marked: Marked, trend: Trend, servers: string[]): Mark[] {
  return marked.marks
    .map((mark) => ({ ...mark, at: mark.at - trend.from }))
    .filter((mark) => mark.at >= 0 && mark.at < trend.ids.length)
    .filter((mark) => mark.kind !== 'versions' || servers.includes(mark.server));
}

export function asBadge(mark: Mark): badges.Mark {
  const { at: index, kind } = mark;
  return { index, kind, label: kind === 'release' ? mark.name : kind, text: sentence(mark) };
}

function sentence(mark: Mark): string {
  switch (mark.kind) {
    case 'release':
      return mark.exact
        ? `Release ${mark.name}: this run measured its commit.`
        : `Release ${mark.name} of ${formatDay(mark.time)}: no run here has its commit; this is the first after it.`;
    case 'environment': {
      const differs = mark.changed ? moved(mark.changed) : 'No record here shows what differs.';
      return `${elsewhere(mark)} in ${mark.environment}. ${differs}`;
    }
    case 'harness':
      return `Other harness${since(mark.last)}: ${moved(mark.changed)}`;
    case 'versions':
      return `${mark.server} reports other versions${since(mark.last)}: ${moved(mark.changed)}`;
  }
}

/** When runs were in another environment. */
function elsewhere(mark: Extract<Mark, { kind: 'environment' }>): string {
  const from = formatDay(mark.from);
  if (mark.where === 'after') return `Other environment after this run: from ${from} on, runs were`;
  const count = mark.runs.toLocaleString('en-US');
  return `Other environment before this run: ${count} runs from ${from} until ${formatDay(mark.to)} were`;
}

const moved = (changed: Moved[]) => `${changed.map(([what, from, to]) => `${what} ${from} \u2192 ${to}`).join('; ')}.`;

const since = (last: number | undefined) => (last === undefined ? '' : `, at some run after ${formatDay(last)}`);

interface ListProps {
  manifest: Manifest;
  trend: Trend;
  marks: Mark[];
}

export function MarkList({ manifest, trend, marks, marked }: ListProps & { marked: Marked }) {
  if (marked.why) {
    return (
      <p class="empty" role="alert">
        Releases and changes of the environment cannot be marked. {marked.why}
      </p>
    );
  }
  if (!marks.length) return null;
  return (
    <details class="changes" open={marks.length <= 8}>
      <summary>
        {marks.length} mark{marks.length > 1 ? 's' : ''}: releases, environments, harness, versions
      </summary>
      <ul>
        {[...marks].reverse().map((mark, number) => (
          <li key={number}>
            <a href={here({ pin: trend.ids[mark.at] ?? null })}>{formatDay(trend.times[mark.at] ?? 0)}</a>{' '}
            <MarkText manifest={manifest} mark={mark} />
          </li>
        ))}
      </ul>
      {marked.leftOut > 0 && (
        <p class="aside">{marked.leftOut.toLocaleString('en-US')} older ones are left out of the data.</p>
      )}
    </details>
  );
}

export function MarkText({ manifest, mark }: { manifest: Manifest; mark: Mark }) {
  return (
    <>
      <bdi>{sentence(mark)}</bdi>{' '}
      {mark.kind === 'release' && manifest.repository && (
        <Outside to={`${manifest.repository}/releases/tag/${encodeURIComponent(mark.name)}`}>{mark.name}</Outside>
      )}
      {mark.kind === 'environment' && manifest.combinations.some((each) => each.id === mark.combination) && (
        <a href={here({ c: mark.combination, range: null, pin: null })}>the trend there</a>
      )}
    </>
  );
}
