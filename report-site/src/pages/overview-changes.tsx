// What changed: levels that moved, and values of the newest runs outside their bands.

import type { Combination, Event, Manifest, Overview, Words } from '../data/types';
import { inSentence, metricTitle, unitOf } from '../data/words';
import { CommitLink, RunLink, Subject, WordMark } from '../parts/page';
import { here, href } from '../route';
import { formatChange, formatDay, formatQuantity } from '../units';

const EVENTS = 6;
/** runs that a level needs */
export const ENOUGH = 5;
const WEEK_SECONDS = 7 * 86_400;
const OLD_SECONDS = 30 * 86_400;

interface ChangesProps {
  manifest: Manifest;
  words: Words;
  overview: Overview;
  chosen: Combination;
  all: boolean;
}

export function Changes({ manifest, words, overview, chosen, all }: ChangesProps) {
  const { events } = overview;
  const shown = all ? events : events.slice(0, EVENTS);
  return (
    <section aria-labelledby="changed" class="changed">
      <h2 id="changed">What changed</h2>
      <p>{chosen.runs < ENOUGH ? `Changes appear after ${ENOUGH} runs.` : <Week overview={overview} />}</p>
      <Suspects words={words} overview={overview} chosen={chosen} />
      {events.length > 0 && <h3>Levels that moved</h3>}
      <ul class="events">
        {shown.map((event) => (
          <Moved key={event.id} manifest={manifest} words={words} event={event} newest={overview.newest.created} />
        ))}
      </ul>
      {events.length > shown.length && <a href={here({ all: '1' })}>Show all {events.length}</a>}
    </section>
  );
}

function age(event: Event, newest: string): number {
  return (Date.parse(newest) - Date.parse(event.created)) / 1e3;
}

/** What moved in the seven days up to the newest run, the newest first. */
export function lastWeek({ events, newest }: Overview): Event[] {
  return events.filter((event) => age(event, newest.created) <= WEEK_SECONDS);
}

function Week({ overview }: { overview: Overview }) {
  const recent = lastWeek(overview);
  const of = (word: Event['word']) => recent.filter((event) => event.word === word).length;
  if (!recent.length) return <>No level moved in the week before the newest run.</>;
  return (
    <>
      In the week before the newest run: {of('worse')} worse, {of('better')} better.
    </>
  );
}

/** What is worse in the last run only: a hint, not yet a change. */
export function suspectsOf({ rows }: Overview): { server: string; metric: string }[] {
  return rows.flatMap((row) =>
    Object.entries(row.words)
      .filter(([, word]) => word === 'worse')
      .map(([metric]) => ({ server: row.server, metric })),
  );
}

function Suspects({ words, overview, chosen }: Pick<ChangesProps, 'words' | 'overview' | 'chosen'>) {
  const worse = suspectsOf(overview);
  if (!worse.length) return null;
  return (
    <>
      <p class="aside">Worse than their history in the last run; a change only if it lasts:</p>
      <ul class="suspects">
        {worse.map(({ server, metric }) => (
          <li key={`${server} ${metric}`}>
            <a href={href('trend', { c: chosen.id, s: server, metric, stage: overview.stage })}>
              {server}: {inSentence(metricTitle(words, metric))}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

interface MovedProps {
  manifest: Manifest;
  words: Words;
  event: Event;
  newest: string;
}

function Moved({ manifest, words, event, newest }: MovedProps) {
  const unit = unitOf(words, event.metric);
  return (
    <li class={age(event, newest) > OLD_SECONDS ? 'old' : undefined}>
      <WordMark word={event.word} />
      <span class="what">
        <a href={trendOf(event)}>
          {event.server}: {metricTitle(words, event.metric)} {formatChange(event.after / event.before - 1)}
        </a>
        <span class="muted">
          {' '}
          {formatQuantity(event.before, unit)} to {formatQuantity(event.after, unit)}, stage {event.stages.join(', ')}
        </span>
        <span class="when">
          <RunLink id={event.run}>{formatDay(event.created)}</RunLink>{' '}
          <CommitLink manifest={manifest} commit={event.commit} /> <Subject manifest={manifest} text={event.subject} />
        </span>
      </span>
    </li>
  );
}

/** The trend in which its level moved. */
export function trendOf(event: Event): string {
  return href('trend', {
    c: event.combination,
    stage: event.stage,
    metric: event.metric,
    s: event.server,
    pin: event.run,
  });
}
