// One row a server, with all metrics of the overview.

import { countedOtherwise, THROUGHPUT } from '../data/method';
import type { Combination, Manifest, Overview, OverviewRow, Words } from '../data/types';
import {
  atStage,
  capital,
  headlineLatency,
  latencyTitle,
  metricTitle,
  unitOf,
  wordsOf,
  worthShowing,
} from '../data/words';
import { OutcomeMark, Outside, RunLink, serverTitle, WordMark } from '../parts/page';
import { Sparkline } from '../parts/sparkline';
import { type Cell, type Column, Table } from '../parts/table';
import { here, href } from '../route';
import { formatDay, formatQuantity, formatterOf, NOT_MEASURED } from '../units';

const OF_DUE = 'Of ... due: fewer arrived in the window. ';

/** The title of a column, which has little room: the latency is named below the table. */
export function shortTitle(words: Words, metric: string): string {
  if (metric === THROUGHPUT) return capital(words.work);
  if (metric === `services_${words.cost}`) return "services' CPU";
  const latency = `${headlineLatency(words)}_seconds.`;
  if (metric.startsWith(latency)) return metric.slice(latency.length);
  const title = metricTitle(words, metric);
  return metric === words.cost ? title.replace(' per ', ' / ') : title;
}

interface Props {
  manifest: Manifest;
  query: URLSearchParams;
  overview: Overview;
  chosen: Combination;
}

export function Servers({ manifest, overview, chosen, query }: Props) {
  const words = wordsOf(manifest, chosen.suite);
  const metrics = overview.metrics.filter((metric) =>
    worthShowing(
      metric,
      overview.rows.map((row) => row.values[metric]),
    ),
  );
  const valuesOf = (metric: string) => overview.rows.map((row) => row.values[metric]);
  const formats = new Map(metrics.map((metric) => [metric, formatterOf(valuesOf(metric), unitOf(words, metric))]));
  const sort = query.get('sort') ?? 'server';
  const key = sort.replace(/^-/, '');
  const rows = sorted(overview.rows, key, sort.startsWith('-'));
  const column = (name: string, title: string, rest: Partial<Column>): Column => ({
    title,
    ...rest,
    sort: {
      href: here({ sort: sort === name ? `-${name}` : name }),
      now: key === name ? (sort.startsWith('-') ? 'descending' : 'ascending') : null,
    },
  });
  return (
    <section aria-labelledby="servers">
      <h2 id="servers">Servers {atStage(chosen, overview)}</h2>
      <Table
        name="servers"
        columns={[
          column('server', 'Server', {}),
          { title: `${shortTitle(words, overview.sparkline)} over runs` },
          ...metrics.map((metric) =>
            column(metric, shortTitle(words, metric), { numeric: true, about: metricTitle(words, metric) }),
          ),
          { title: 'Measured' },
          { title: 'Sources' },
        ]}
        rows={rows.map((row) => cells(manifest, overview, chosen, formats, row))}
      />
      <p class="aside">
        p50, p95 and p99: percentiles of the {latencyTitle(words, headlineLatency(words))}. {'\u2717'} worse or{' '}
        {'\u2713'} better than the accepted level, by at least the margin.{' '}
        {overview.rows.some((row) => row.due) && OF_DUE}
        {countedOtherwise(words, metrics, chosen.method)} <a href={href('method')}>How it is measured</a>
      </p>
    </section>
  );
}

function cells(
  manifest: Manifest,
  overview: Overview,
  chosen: Combination,
  formats: Map<string, (value: number) => string>,
  row: OverviewRow,
): Cell[] {
  const { server } = row;
  const words = wordsOf(manifest, chosen.suite);
  const about = manifest.servers[server];
  const trend = (metric: string) => href('trend', { c: chosen.id, s: server, metric, stage: overview.stage });
  return [
    {
      text: server,
      show: (
        <>
          <a href={trend(overview.sparkline)}>{server}</a>
          {about && <span class="below">{serverTitle(manifest, server)}</span>}
        </>
      ),
    },
    {
      text: row.trend.length ? `${row.trend.length} runs` : '',
      show: (
        <Sparkline
          values={row.trend}
          about={`${metricTitle(words, overview.sparkline)} of the last ${row.trend.length} runs`}
        />
      ),
    },
    ...[...formats].map(([metric, format]) => valueCell(row, metric, trend(metric), format)),
    {
      text: row.valid ? formatDay(row.created) : `${formatDay(row.created)}, invalid`,
      value: row.created,
      show: (
        <>
          <RunLink id={row.run} server={server}>
            {formatDay(row.created)}
          </RunLink>{' '}
          {!row.valid && <OutcomeMark outcome="invalid" />}
        </>
      ),
    },
    linksCell(manifest, server),
  ];
}

function valueCell(row: OverviewRow, metric: string, trend: string, format: (value: number) => string): Cell {
  const value = row.values[metric] ?? null;
  const word = row.words[metric];
  const text = value === null ? NOT_MEASURED : format(value);
  const due = metric === THROUGHPUT && row.due ? `of ${formatQuantity(row.due, 'per_second')} due` : '';
  const told = word === 'worse' || word === 'better' ? word : null;
  return {
    text: [text, due, told ? `(${told})` : ''].filter((each) => each).join(' '),
    value,
    show: (
      <a class="plain" href={trend}>
        {told && <WordMark word={told} />} {text}
        {due && <span class="below">{due}</span>}
      </a>
    ),
  };
}

function linksCell(manifest: Manifest, server: string): Cell {
  const about = manifest.servers[server];
  return {
    text: about?.link ?? '',
    show: about ? (
      <>
        <Outside to={about.link}>home</Outside>
        {manifest.repository && (
          <>
            , <Outside to={`${manifest.repository}/tree/HEAD/${about.folder}`}>code</Outside>
          </>
        )}
      </>
    ) : (
      <span class="muted" title="not in this checkout">
        gone
      </span>
    ),
  };
}

function sorted(rows: OverviewRow[], key: string, descending: boolean): OverviewRow[] {
  const value = (row: OverviewRow) => (key === 'server' ? row.server : (row.values[key] ?? null));
  const compare = (a: OverviewRow, b: OverviewRow) => {
    const [left, right] = [value(a), value(b)];
    if (left === right) return a.server < b.server ? -1 : 1;
    if (left === null) return 1;
    if (right === null) return -1;
    return (left < right ? -1 : 1) * (descending ? -1 : 1);
  };
  return [...rows].sort(compare);
}
