// The servers of a suite, the best first: bars in multiples of the best. Ties share a place; servers that are not
// compared are listed apart.

import { useLoaded } from '../data/load';
import { type Ranking, rank, rankedBy, seriesOf } from '../data/ranking';
import type { Combination, Manifest, Overview, OverviewRow, Words } from '../data/types';
import { atStage, inSentence, latencyTitle, metricTitle, unitOf } from '../data/words';
import { Filters } from '../parts/filters';
import { Choice, OutcomeMark, RunLink, Shown, WordMark } from '../parts/page';
import { Place, Unranked } from '../parts/places';
import { formatDay, formatNumber, formatQuantity, formatterOf } from '../units';
import type { CapacityProps } from './capacity-ranking';
import { shortTitle } from './overview-table';

/** Stands in the address in place of a metric. */
export const CAPACITY = 'capacity';
/** The multiple of the best at which a bar has its full length. */
const LONGEST = 10;

/** The data of the parts of the first page. */
export interface OverviewProps {
  manifest: Manifest;
  query: URLSearchParams;
  overview: Overview;
  chosen: Combination;
  words: Words;
  /** rows of the overview that pass the filters */
  rows: OverviewRow[];
}

export function RankingPart({ manifest, query, overview, chosen, words, rows }: OverviewProps) {
  const metrics = rankedBy(words, overview.metrics).filter((metric) => rows.some((row) => row.values[metric] != null));
  const asked = query.get('rank') ?? '';
  const searched = seriesOf(manifest, chosen);
  const options = metrics.map((value) => ({ value, text: label(words, value) }));
  if (searched) options.push({ value: CAPACITY, text: 'Capacity' });
  const controls = (value: string) => (
    <div class="controls">
      <Choice label="Ranked by" name="rank" value={value} options={options} />
      <Filters manifest={manifest} servers={chosen.servers} query={query} />
    </div>
  );
  if (searched && asked === CAPACITY) {
    return <CapacityPart {...{ manifest, query, words }} series={searched} controls={controls(CAPACITY)} />;
  }
  const metric = metrics.includes(asked) ? asked : (metrics[0] ?? words.headline);
  const ranking = rank(rows, metric, words, manifest.margins[chosen.suite]);
  const { ranked } = ranking;
  const longest = Math.min(LONGEST, Math.max(1, ...ranked.map((each) => each.times)));
  const format = formatterOf(
    ranked.map((each) => each.value),
    unitOf(words, metric),
  );
  return (
    <section aria-labelledby="ranking" class="ranking">
      <h2 id="ranking">
        Best {inSentence(metricTitle(words, metric))} {atStage(chosen, overview)}
      </h2>
      {controls(metric)}
      <ol>
        {ranked.map((each, index) => (
          <Place
            key={each.row.server}
            {...{ manifest, index }}
            server={each.row.server}
            places={ranked.map(({ place }) => place)}
            share={Math.min(1, each.times / longest)}
            beyond={each.times > longest}
            value={format(each.value)}
            beside={each.times === 1 ? 'best' : `${formatNumber(Number(each.times.toPrecision(3)))} \u00d7`}
          >
            <Standing
              words={words}
              row={each.row}
              metric={metric}
              dated={each.row.run === overview.newest.id ? null : each.row.created}
            />
          </Place>
        ))}
      </ol>
      {ranked.length === 0 && <p class="empty">No server has a valid number here.</p>}
      <Unranked
        manifest={manifest}
        servers={ranking.apart.map(({ row, why }) => ({ server: row.server, why: <Why row={row} why={why} /> }))}
      />
      <p class="aside">
        {shares(ranking.noisy, ranking.margin !== undefined)} Bars are multiples of the best
        {longest === LONGEST && `, cut at ${LONGEST}`}.{' '}
        {metric.endsWith('.p50') || metric.endsWith('.p95') || metric.endsWith('.p99')
          ? `p50, p95 and p99: percentiles of the ${latencyTitle(words, words.headline.replace(/_seconds\..*$/, ''))}.`
          : ''}
      </p>
    </section>
  );
}

/** The label of a chip. */
function label(words: Words, metric: string): string {
  const title = shortTitle(words, metric);
  return title === metricTitle(words, metric) || !/^[a-z]/.test(title) ? title.replace(/ peak$/, '') : title;
}

/** Loads its code on demand. */
function CapacityPart(props: CapacityProps) {
  const loaded = useLoaded('code of the capacities', async () => ({
    Wanted: (await import('./capacity-ranking')).CapacityRanking,
  }));
  return <Shown loaded={loaded}>{({ Wanted }) => <Wanted {...props} />}</Shown>;
}

function shares(noisy: boolean, margin: boolean): string {
  if (noisy) return 'Servers share a place where the noise between runs hides the difference.';
  const until = 'The noise between runs is known after five runs';
  if (!margin) return `${until}; until then, close places may be chance.`;
  return `${until}; until then, servers share a place where chance or the margin of a change hides the difference.`;
}

interface StandingProps {
  words: Words;
  row: OverviewRow;
  metric: string;
  /** when it was measured, if the others are newer */
  dated: string | null;
}

/** Other facts about a server that has a place. */
function Standing({ words, row, metric, dated }: StandingProps) {
  const word = row.words[metric];
  return (
    <>
      <span class="verdict">
        {word === 'worse' || word === 'better' ? <WordMark word={word} /> : null}{' '}
        <RunLink id={row.run} server={row.server}>
          <OutcomeMark outcome={row.outcome ?? null} />
        </RunLink>
        {dated && <span class="dated">{formatDay(dated)}</span>}
      </span>
      <span class="also">
        {[words.headline, words.cost, 'memory_bytes.peak'].map((also) => (
          <span key={also}>
            {shortTitle(words, also)} <b>{formatQuantity(row.values[also], unitOf(words, also))}</b>
          </span>
        ))}
      </span>
    </>
  );
}

const WHY = {
  invalid: 'the trials measured the generator or a disturbed machine, not the server',
  fail: 'outside of the limits',
  missing: 'this metric was not measured',
};

function Why({ row, why }: Ranking['apart'][number]) {
  return (
    <>
      {' '}
      {why !== 'missing' && <OutcomeMark outcome={why} />}{' '}
      <RunLink id={row.run} server={row.server}>
        {WHY[why]}
      </RunLink>
    </>
  );
}
