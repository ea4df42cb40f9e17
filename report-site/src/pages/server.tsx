// One server: what it is, its numbers and its place wherever it was measured, its trend, and how to measure it.

import { load, useLoaded } from '../data/load';
import { rank, rankedBy } from '../data/ranking';
import type { Combination, Manifest, Overview, OverviewRow, Words } from '../data/types';
import { metricTitle, unitOf, wordsOf } from '../data/words';
import { Command } from '../parts/about-run';
import { Facts } from '../parts/facts';
import { combinationTitle, OutcomeMark, Outside, RunLink, Shown, serverTitle, WordMark } from '../parts/page';
import { placeText } from '../parts/places';
import { Swatch } from '../parts/swatch';
import { type Cell, Table } from '../parts/table';
import { href } from '../route';
import { serverStroke } from '../theme';
import { formatDay, formatNumber, formatQuantity, NOT_MEASURED } from '../units';
import { ServerCapacity } from './server-capacity';
import { Embed } from './server-embed';
import { ServerLoad } from './server-load';
import { ServerTrend } from './server-trend';

/** Number of the newest combinations that are shown: each costs a file. */
const SHOWN = 6;
/** runs that a band needs */
const ENOUGH = 5;

interface Props {
  manifest: Manifest;
  id: string;
}

export function ServerPage({ manifest, query, id }: Props & { query: URLSearchParams }) {
  const measured = manifest.combinations.filter((each) => each.servers.includes(id));
  const searched = (manifest.capacities ?? []).filter((each) => each.servers.includes(id)).slice(0, SHOWN);
  const about = manifest.servers[id];
  return (
    <>
      <h1>
        <Swatch stroke={serverStroke(manifest.looks, id)} /> {serverTitle(manifest, id)}
      </h1>
      {about || measured.length > 0 ? (
        <About manifest={manifest} id={id} />
      ) : (
        <p class="empty">This checkout has no server {id}, and no run measured one.</p>
      )}
      {about && measured.length === 0 && <p class="empty">It has not been measured yet.</p>}
      {searched.map((series) => (
        <ServerCapacity key={series.id} manifest={manifest} series={series} id={id} />
      ))}
      {measured.slice(0, SHOWN).map((combination, index) => (
        <Measured
          key={combination.id}
          manifest={manifest}
          query={query}
          id={id}
          chosen={combination}
          drawn={index === 0}
        />
      ))}
      {measured.length > SHOWN && <Others manifest={manifest} id={id} others={measured.slice(SHOWN)} />}
      {about && <Reproduce id={id} measured={measured} />}
      {manifest.charts?.[id] && <Embed id={id} names={manifest.charts[id]} />}
    </>
  );
}

function About({ manifest, id }: Props) {
  const about = manifest.servers[id];
  if (!about) {
    return (
      <p>
        <code>{id}</code> is no longer in this checkout; its measurements remain.
      </p>
    );
  }
  const source = manifest.repository && `${manifest.repository}/tree/HEAD/${about.folder}`;
  const facts: [string, string][] = [
    ['Id', id],
    ['Language', about.language],
    ['Protocol', about.protocol],
    ['Tier', about.tier],
  ];
  return (
    <>
      <Facts facts={facts} />
      <p class="links">
        <Outside to={about.link}>What it is built with</Outside>
        <Outside to={source}>Its sources: {about.folder}</Outside>
      </p>
    </>
  );
}

interface MeasuredProps extends Props {
  query: URLSearchParams;
  chosen: Combination;
  /** whether its trend and its curves are drawn */
  drawn: boolean;
}

function Measured({ manifest, query, id, chosen, drawn }: MeasuredProps) {
  const words = wordsOf(manifest, chosen.suite);
  const loaded = useLoaded(chosen.id, () => load<Overview>(`${chosen.id}/overview`, chosen.overview));
  return (
    <section aria-label={combinationTitle(manifest, chosen)}>
      <h2>{combinationTitle(manifest, chosen)}</h2>
      <Shown loaded={loaded}>
        {(overview) => {
          const row = overview.rows.find((each) => each.server === id);
          if (!row) return <p class="empty">Its numbers are only in the trend.</p>;
          return (
            <>
              <Numbers manifest={manifest} words={words} chosen={chosen} overview={overview} row={row} />
              {drawn && <ServerLoad manifest={manifest} words={words} query={query} id={id} run={row.run} />}
              {drawn && overview.stage && (
                <ServerTrend manifest={manifest} words={words} chosen={chosen} stage={overview.stage} id={id} />
              )}
            </>
          );
        }}
      </Shown>
    </section>
  );
}

interface NumbersProps {
  manifest: Manifest;
  words: Words;
  chosen: Combination;
  overview: Overview;
  row: OverviewRow;
}

function Numbers({ manifest, words, chosen, overview, row }: NumbersProps) {
  const ranked = rankedBy(words, overview.metrics);
  const metrics = [...ranked, ...overview.metrics.filter((metric) => !ranked.includes(metric))].filter(
    (metric) => row.values[metric] !== null && row.values[metric] !== undefined,
  );
  const stage = chosen.stages.find((each) => each.name === overview.stage);
  return (
    <>
      <p>
        <OutcomeMark outcome={row.valid ? (row.outcome ?? null) : 'invalid'} /> in its last run,{' '}
        <RunLink id={row.run} server={row.server}>
          {formatDay(row.created)}
        </RunLink>
        ; {row.runs === 1 ? 'one run' : `${row.runs.toLocaleString('en-US')} runs`} in all
      </p>
      <Table
        name={`${row.server} ${chosen.suite} ${chosen.profile}`}
        columns={[
          { title: 'Metric' },
          { title: stage ? `At ${stage.clients.toLocaleString('en-US')} clients` : 'Value', numeric: true },
          { title: 'Place', numeric: true, about: 'among the servers of the same runs' },
          { title: 'Times the best', numeric: true },
          { title: 'Noise between runs', numeric: true },
          { title: 'Against its history' },
        ]}
        rows={metrics.map((metric) => [
          {
            text: metricTitle(words, metric),
            show: (
              <a href={href('trend', { c: chosen.id, s: row.server, metric, stage: overview.stage })}>
                {metricTitle(words, metric)}
              </a>
            ),
          },
          { text: formatQuantity(row.values[metric], unitOf(words, metric)), value: row.values[metric] ?? null },
          ...placeCells(manifest, words, chosen, overview, row, ranked.includes(metric) ? metric : null),
          noiseCell(row.noise[metric], row.runs),
          wordCell(row, metric),
        ])}
      />
    </>
  );
}

function placeCells(
  manifest: Manifest,
  words: Words,
  chosen: Combination,
  overview: Overview,
  row: OverviewRow,
  metric: string | null,
): Cell[] {
  if (!metric) return [{ text: '' }, { text: '' }];
  const { ranked } = rank(overview.rows, metric, words, manifest.margins[chosen.suite]);
  const found = ranked.find((each) => each.row === row);
  if (!found) return [{ text: 'not ranked' }, { text: '' }];
  const places = ranked.map(({ place }) => place);
  return [
    { text: `${placeText(places, found.place)} of ${ranked.length}`, value: found.place },
    { text: `${formatNumber(Number(found.times.toPrecision(3)))} \u00d7`, value: found.times },
  ];
}

function noiseCell(noise: number | undefined, runs: number): Cell {
  if (noise === undefined) return { text: runs > ENOUGH ? NOT_MEASURED : `after ${ENOUGH} runs` };
  return { text: `\u00b1${Number((noise * 100).toPrecision(2))} %`, value: noise };
}

function wordCell(row: OverviewRow, metric: string): Cell {
  const word = row.words[metric];
  return word ? { text: word, show: <WordMark word={word} /> } : { text: '' };
}

function Others({ manifest, id, others }: Props & { others: Combination[] }) {
  return (
    <section>
      <h2>Also measured</h2>
      <ul>
        {others.map((each) => (
          <li key={each.id}>
            <a href={href('trend', { c: each.id, s: id })}>{combinationTitle(manifest, each)}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Reproduce({ id, measured }: { id: string; measured: Combination[] }) {
  const profiles = [...new Set(measured.map((each) => each.profile))];
  const server = quoted(id);
  const commands = [
    `./pushbench verify ${server}`,
    ...(profiles.length ? profiles : ['quick']).map(
      (profile) => `./pushbench run ${server} --profile ${quoted(profile)}`,
    ),
  ];
  return (
    <section aria-labelledby="again">
      <h2 id="again">Measure it</h2>
      <p>
        In a checkout, the first command builds the server and checks that it follows its protocol; the others measure
        it. The page of a run has the command that repeats exactly that run.
      </p>
      {commands.map((command) => (
        <Command key={command} command={command} />
      ))}
    </section>
  );
}

/** One word of a shell's command line. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
