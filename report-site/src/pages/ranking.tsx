// The servers of a suite, the best first: bars in multiples of the best, ties together, and what is not compared apart.

import { useLoaded } from '../data/load';
import { type Ranked, rank, rankedBy, seriesOf } from '../data/ranking';
import type { Combination, Manifest, Overview, OverviewRow, Words } from '../data/types';
import { inSentence, latencyTitle, metricTitle, unitOf } from '../data/words';
import { Filters } from '../parts/filters';
import { Choice, OutcomeMark, RunLink, ServerLink, Shown, serverTitle, WordMark } from '../parts/page';
import { Swatch } from '../parts/swatch';
import { serverStroke } from '../theme';
import { formatDay, formatNumber, formatQuantity, formatterOf } from '../units';
import type { CapacityProps } from './capacity-ranking';
import { shortTitle } from './overview-table';

const CAPACITY = 'capacity';
/** Multiples of the best at which a bar is as long as it gets. */
const LONGEST = 10;

interface Props {
  manifest: Manifest;
  query: URLSearchParams;
  overview: Overview;
  chosen: Combination;
  words: Words;
  rows: OverviewRow[];
}

export function RankingPart({ manifest, query, overview, chosen, words, rows }: Props) {
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
  const ranking = rank(rows, metric, words, manifest.margins[chosen.suite]?.[metric]);
  const { ranked } = ranking;
  const stage = chosen.stages.find((each) => each.name === overview.stage);
  const at = stage ? `${stage.clients.toLocaleString('en-US')} clients` : 'the largest stage';
  const longest = Math.min(LONGEST, Math.max(1, ...ranked.map((each) => each.times)));
  const format = formatterOf(
    ranked.map((each) => each.value),
    unitOf(words, metric),
  );
  return (
    <section aria-labelledby="ranking" class="ranking">
      <h2 id="ranking">
        Best {inSentence(metricTitle(words, metric))} at {at}
      </h2>
      {controls(metric)}
      <ol>
        {ranked.map((each, index) => (
          <Place
            key={each.row.server}
            manifest={manifest}
            words={words}
            each={each}
            text={format(each.value)}
            metric={metric}
            share={Math.min(1, each.times / longest)}
            beyond={each.times > longest}
            shared={ranked.some((other) => other !== each && other.place === each.place)}
            begins={each.place !== ranked[index - 1]?.place}
            dated={each.row.run === overview.newest.id ? null : each.row.created}
          />
        ))}
      </ol>
      {ranked.length === 0 && <p class="empty">No server has a valid number here.</p>}
      <Apart manifest={manifest} apart={ranking.apart} />
      <p class="aside">
        {shares(ranking.noisy, ranking.margin !== undefined)} Bars are multiples of the best
        {longest === LONGEST && `, cut at ${LONGEST}`}.{' '}
        {metric.endsWith('.p50') || metric.endsWith('.p95') || metric.endsWith('.p99')
          ? `p50, p95 and p99 are of the ${latencyTitle(words, words.headline.replace(/_seconds\..*$/, ''))}.`
          : ''}
      </p>
    </section>
  );
}

/** Of a chip. */
function label(words: Words, metric: string): string {
  const title = shortTitle(words, metric);
  return title === metricTitle(words, metric) || !/^[a-z]/.test(title) ? title.replace(/ peak$/, '') : title;
}

/** Its code is asked for when somebody wants it. */
function CapacityPart(props: CapacityProps) {
  const loaded = useLoaded('code of the capacities', async () => ({
    Wanted: (await import('./capacity-ranking')).CapacityRanking,
  }));
  return <Shown loaded={loaded}>{({ Wanted }) => <Wanted {...props} />}</Shown>;
}

function shares(noisy: boolean, margin: boolean): string {
  if (noisy) return 'Servers share a place where the noise between runs hides the difference.';
  const until = 'How far runs scatter is known from five runs on';
  if (!margin) return `${until}, so close places may be chance.`;
  return `${until}; until then, servers share a place where chance or the margin of a change hides the difference.`;
}

interface PlaceProps {
  manifest: Manifest;
  words: Words;
  each: Ranked;
  text: string;
  metric: string;
  share: number;
  beyond: boolean;
  shared: boolean;
  begins: boolean;
  dated: string | null;
}

function Place({ manifest, words, each, text, metric, share, beyond, shared, begins, dated }: PlaceProps) {
  const { row, place, times } = each;
  const stroke = serverStroke(manifest.looks, row.server);
  const word = row.words[metric];
  return (
    <li class={begins ? 'begins' : undefined} value={place}>
      <span class="place" title={shared ? 'These servers cannot be told apart' : undefined}>
        {place}
        {shared ? '=' : ''}
      </span>
      <span class="server">
        <Swatch stroke={stroke} />
        <ServerLink server={row.server} />
        <span class="about">{serverTitle(manifest, row.server)}</span>
      </span>
      <span class={`bar ${stroke.colour} ${beyond ? 'beyond' : ''}`} aria-hidden="true">
        <span style={{ width: `${(share * 100).toFixed(1)}%` }} />
      </span>
      <span class="value">{text}</span>
      <span class="times">{times === 1 ? 'best' : `${formatNumber(Number(times.toPrecision(3)))} \u00d7`}</span>
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
    </li>
  );
}

const WHY = {
  invalid: 'what was measured was not the server, but the generator or a disturbed machine',
  fail: 'outside of the limits',
  missing: 'this metric was not measured',
};

function Apart({ manifest, apart }: { manifest: Manifest; apart: ReturnType<typeof rank>['apart'] }) {
  if (!apart.length) return null;
  return (
    <div class="apart">
      <h3>Not ranked</h3>
      <ul>
        {apart.map(({ row, why }) => (
          <li key={row.server}>
            <Swatch stroke={serverStroke(manifest.looks, row.server)} /> <ServerLink server={row.server} />{' '}
            {why !== 'missing' && <OutcomeMark outcome={why} />}{' '}
            <RunLink id={row.run} server={row.server}>
              {WHY[why]}
            </RunLink>
          </li>
        ))}
      </ul>
    </div>
  );
}
