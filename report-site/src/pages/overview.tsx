// What changed first, then one row a server.

import { load, useLoaded } from '../data/load';
import { countedOtherwise, THROUGHPUT } from '../data/method';
import type { Combination, Event, Manifest, Overview, OverviewRow, Words } from '../data/types';
import { capital, headlineLatency, latencyTitle, metricTitle, unitOf, wordsOf, worthShowing } from '../data/words';
import {
  CombinationPick,
  CommitLink,
  chosenCombination,
  NoSuch,
  OutcomeMark,
  Outside,
  RunLink,
  Shown,
  Subject,
  serverTitle,
  WordMark,
} from '../parts/page';
import { Sparkline } from '../parts/sparkline';
import { type Cell, type Column, Table } from '../parts/table';
import { here, href } from '../route';
import { formatChange, formatDay, formatQuantity, formatTime } from '../units';

const EVENTS = 8;
const OF_DUE = 'Of ... due: fewer arrived in the window. ';

/** The title of a column, which has little room: the latency is named below the table. */
function shortTitle(words: Words, metric: string): string {
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
}

export function OverviewPage({ manifest, query }: Props) {
  const chosen = chosenCombination(manifest, query);
  if (!manifest.combinations.length) return <NothingYet manifest={manifest} />;
  if (!chosen) return <NoSuch title="What changed" query={query} />;
  return <Chosen manifest={manifest} query={query} chosen={chosen} />;
}

function NothingYet({ manifest }: { manifest: Manifest }) {
  return (
    <>
      <h1>Nothing was measured yet</h1>
      <p>
        <code>make bench</code> measures the servers of a checkout, and <code>./pushbench site</code> writes this site
        again.
        {manifest.all_runs > 0 && ' There are runs that have no place in a trend: see '}
        {manifest.all_runs > 0 && <a href={href('runs')}>all runs</a>}
      </p>
    </>
  );
}

function Chosen({ manifest, query, chosen }: Props & { chosen: Combination }) {
  const words = wordsOf(manifest, chosen.suite);
  const loaded = useLoaded(chosen.id, () => load<Overview>(`${chosen.id}/overview`, chosen.overview));
  return (
    <>
      <h1>What changed</h1>
      <div class="controls">
        <CombinationPick manifest={manifest} chosen={chosen} />
      </div>
      <Shown loaded={loaded}>
        {(overview) => (
          <>
            <Newest manifest={manifest} overview={overview} chosen={chosen} />
            <Events manifest={manifest} words={words} overview={overview} all={query.get('all') === '1'} />
            <Servers manifest={manifest} overview={overview} chosen={chosen} query={query} />
          </>
        )}
      </Shown>
    </>
  );
}

interface NewestProps {
  manifest: Manifest;
  overview: Overview;
  chosen: Combination;
}

function Newest({ manifest, overview, chosen }: NewestProps) {
  const { newest, invalid } = overview;
  const run = <RunLink id={newest.id}>{formatTime(newest.created)}</RunLink>;
  return (
    <section class="panel" aria-label="Newest run">
      <p class="lead">
        <OutcomeMark outcome={newest.outcome} /> {run}, commit <CommitLink manifest={manifest} commit={newest.commit} />
        : <Subject manifest={manifest} text={newest.subject} />
      </p>
      {newest.reasons.length > 0 && (
        <ul class="reasons">
          {newest.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {invalid.map((each) => (
        <p key={each.run} class="aside">
          Invalid in <RunLink id={each.run}>{formatTime(each.created)}</RunLink>: {each.servers.join(', ')}. What was
          measured then was not the server.
        </p>
      ))}
      {newest.servers < overview.rows.length && (
        <p class="aside">
          It measured {newest.servers} of {overview.rows.length} servers with the profile {chosen.profile}. A run
          without time for all of them begins with those that changed, then with those that waited the longest. Each row
          is of the server's last run with this profile.
        </p>
      )}
      <p class="aside">
        {chosen.runs === 1
          ? 'The first run of its kind: levels and bands need five.'
          : `${chosen.runs.toLocaleString('en-US')} runs from ${formatDay(chosen.first)} to ${formatDay(chosen.last)}`}
      </p>
    </section>
  );
}

interface EventsProps {
  manifest: Manifest;
  words: Words;
  overview: Overview;
  all: boolean;
}

function Events({ manifest, words, overview, all }: EventsProps) {
  const { events } = overview;
  const shown = all ? events : events.slice(0, EVENTS);
  if (!events.length) return <p class="empty">No level of a metric with a margin changed in the recent runs.</p>;
  return (
    <section aria-labelledby="changed">
      <h2 id="changed">Levels that moved</h2>
      <ul class="events">
        {shown.map((event) => (
          <li key={event.id}>
            <WordMark word={event.word} />
            <span class="what">
              <a href={trendOf(event)}>
                {event.server}: {metricTitle(words, event.metric)} {formatChange(event.after / event.before - 1)}
              </a>
              <span class="muted">
                {' '}
                {formatQuantity(event.before, unitOf(words, event.metric))} to{' '}
                {formatQuantity(event.after, unitOf(words, event.metric))}, stage {event.stages.join(', ')}
              </span>
            </span>
            <span class="when">
              <RunLink id={event.run}>{formatDay(event.created)}</RunLink>{' '}
              <CommitLink manifest={manifest} commit={event.commit} />{' '}
              <Subject manifest={manifest} text={event.subject} />
            </span>
          </li>
        ))}
      </ul>
      {events.length > shown.length && <a href={here({ all: '1' })}>Show all {events.length}</a>}
    </section>
  );
}

function trendOf(event: Event): string {
  return href('trend', {
    c: event.combination,
    stage: event.stage,
    metric: event.metric,
    s: event.server,
    pin: event.run,
  });
}

function Servers({ manifest, overview, chosen, query }: Props & { overview: Overview; chosen: Combination }) {
  const words = wordsOf(manifest, chosen.suite);
  const metrics = overview.metrics.filter((metric) =>
    worthShowing(
      metric,
      overview.rows.map((row) => row.values[metric]),
    ),
  );
  const stage = chosen.stages.find((each) => each.name === overview.stage);
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
      <h2 id="servers">
        Servers at {stage ? `${stage.clients.toLocaleString('en-US')} clients` : 'the largest stage'}
      </h2>
      <Table
        name="servers"
        columns={[
          column('server', 'Server', {}),
          { title: 'Trend', about: `${metricTitle(words, overview.sparkline)} over the newest runs` },
          ...metrics.map((metric) =>
            column(metric, shortTitle(words, metric), { numeric: true, about: metricTitle(words, metric) }),
          ),
          { title: 'Measured' },
          { title: 'Sources' },
        ]}
        rows={rows.map((row) => cells(manifest, overview, chosen, metrics, row))}
      />
      <p class="aside">
        p50, p95 and p99 are of the {latencyTitle(words, headlineLatency(words))}. {'\u2717'} worse and {'\u2713'}{' '}
        better: outside of the band of the runs before, by at least the margin.{' '}
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
  metrics: string[],
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
    ...metrics.map((metric) => valueCell(words, row, metric, trend(metric))),
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

function valueCell(words: Words, row: OverviewRow, metric: string, trend: string): Cell {
  const value = row.values[metric] ?? null;
  const word = row.words[metric];
  const text = formatQuantity(value, unitOf(words, metric));
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
