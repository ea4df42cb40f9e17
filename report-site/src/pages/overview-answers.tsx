// The five questions of a first visit, each with a short answer; the parts below have the details.

import type { ComponentChildren } from 'preact';
import { useLoaded } from '../data/load';
import { medianNoise, rank, seriesOf } from '../data/ranking';
import { atStage, inSentence, loadUnit, metricTitle, unitOf } from '../data/words';
import { Shown } from '../parts/page';
import { here, href } from '../route';
import { formatChange, formatDay, formatQuantity } from '../units';
import { ENOUGH, lastWeek, suspectsOf, trendOf } from './overview-changes';
import { CAPACITY, type OverviewProps } from './ranking';

export function Answers(props: OverviewProps) {
  const { overview, chosen, words } = props;
  const headline = inSentence(metricTitle(words, words.headline));
  return (
    <section aria-label="Five answers">
      <dl class="answers">
        <Best {...props} metric={words.headline} question={`Best ${headline} ${atStage(chosen, overview)}`} />
        <Best {...props} metric={words.cost} question={`Least ${inSentence(metricTitle(words, words.cost))}`} />
        <Most {...props} />
        <Worse {...props} />
        <Trusted {...props} />
      </dl>
    </section>
  );
}

function Answer({ question, children }: { question: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{question}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface FoundProps {
  /** where the full answer is */
  to: string;
  text: string;
  detail: ComponentChildren;
}

/** An answer. */
function Found({ to, text, detail }: FoundProps) {
  return (
    <>
      <a href={to}>{text}</a> <span class="detail">{detail}</span>
    </>
  );
}

/** The servers that share the first place: `bun`, `bun, go`, `bun and 2 more`. */
function together(servers: string[]): string {
  const [first = 'none', ...others] = servers;
  return others.length < 2 ? [first, ...others].join(', ') : `${first} and ${others.length} more`;
}

function Best({
  manifest,
  chosen,
  words,
  rows,
  metric,
  question,
}: OverviewProps & { metric: string; question: string }) {
  const { ranked } = rank(rows, metric, words, manifest.margins[chosen.suite]);
  const [best] = ranked;
  const detail = best ? formatQuantity(best.value, unitOf(words, metric)) : 'no server is valid and within limits';
  const servers = ranked.filter((each) => each.place === 1).map(({ row }) => row.server);
  return (
    <Answer question={question}>
      <Found to={here({ rank: metric })} text={together(servers)} detail={detail} />
    </Answer>
  );
}

/** Loads the code that ranks searches only if there are any. */
function Most({ manifest, query, chosen, words }: OverviewProps) {
  const series = seriesOf(manifest, chosen);
  const loaded = useLoaded(series?.id ?? 'no capacities', async () => ({
    Wanted: series ? (await import('./capacity-ranking')).MostCarried : null,
  }));
  return (
    <Answer question={`Most ${loadUnit(words, series?.searched ?? 'clients')} within limits`}>
      <Shown loaded={loaded}>
        {({ Wanted }) =>
          Wanted && series ? (
            <Wanted {...{ manifest, query, words, series }}>
              {(servers, carried) => <Found to={here({ rank: CAPACITY })} text={together(servers)} detail={carried} />}
            </Wanted>
          ) : (
            <Found to={here({ rank: null })} text="not searched yet" detail={<code>pushbench capacity</code>} />
          )
        }
      </Shown>
    </Answer>
  );
}

function Worse(props: OverviewProps) {
  return (
    <Answer question={`Worse in the week to ${formatDay(props.overview.newest.created)}`}>
      <Found {...worse(props)} />
    </Answer>
  );
}

/** The servers whose level got worse, and the newest of these changes. */
function worse({ overview, chosen, words }: OverviewProps): FoundProps {
  if (chosen.runs < ENOUGH) {
    return { to: href('runs'), text: 'not known yet', detail: `${chosen.runs} of the ${ENOUGH} runs needed` };
  }
  const moved = lastWeek(overview).filter((event) => event.word === 'worse');
  const [newest] = moved;
  if (!newest) {
    const suspects = suspectsOf(overview).length;
    const detail = suspects ? `${suspects} to watch in the last run` : `${chosen.runs.toLocaleString('en-US')} runs`;
    return { to: href('trend', { c: chosen.id }), text: 'nothing', detail };
  }
  const change = formatChange(newest.after / newest.before - 1);
  return {
    to: trendOf(newest),
    text: together([...new Set(moved.map((event) => event.server))]),
    detail: `${inSentence(metricTitle(words, newest.metric))} ${change}`,
  };
}

function Trusted({ overview, words }: OverviewProps) {
  const { valid, trials } = overview.newest;
  const known = [words.headline, words.cost].flatMap((metric) => {
    const noise = medianNoise(overview.rows, metric);
    const title = inSentence(metricTitle(words, metric));
    return noise === null ? [] : [`\u00b1${Number((noise * 100).toPrecision(2))}\u00a0% ${title}`];
  });
  const detail = known.length ? `noise ${known.join(', ')}` : `noise is known after ${ENOUGH} runs`;
  return (
    <Answer question="Can I trust it?">
      <Found to={href('method')} text={`${valid} of ${trials} trials valid`} detail={detail} />
    </Answer>
  );
}
