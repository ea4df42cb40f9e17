// Two runs: each metric of a server in both, and whether they differ by more than runs do.

import { wordFor } from '../data/compare';
import { dictionary, load, useLoaded } from '../data/load';
import type { Manifest, Overview, Run, Spread, Word } from '../data/types';
import { DistributionChart, KINDS } from '../parts/distribution';
import { Choice, metricTitle, Pick, RunLink, WordMark } from '../parts/page';
import { type Cell, Table } from '../parts/table';
import { formatChange, formatQuantity, formatTime } from '../units';
import { spreadCell, stageTitle } from './run';

interface Props {
  manifest: Manifest;
  query: URLSearchParams;
  a: Run;
  b: Run;
}

interface Row {
  server: string;
  metric: string;
  a: Spread | undefined;
  b: Spread | undefined;
  word: Word;
}

const ALL = '*';

export function RunsCompared({ manifest, query, a, b }: Props) {
  const noise = useNoise(manifest, b);
  const both = b.servers
    .map((each) => each.server)
    .filter((server) => a.servers.some((each) => each.server === server));
  const server = query.get('server') ?? ALL;
  const servers = both.includes(server) ? [server] : both;
  const stages = b.servers.find((each) => servers.includes(each.server))?.stages ?? [];
  const stage =
    stages.find((each) => each.name === query.get('stage')) ??
    stages.filter((each) => each.name === String(each.clients)).at(-1) ??
    stages.at(-1);
  const different = query.get('only') === '1';
  const kind = query.get('kind') ?? 'delivery';
  if (!stage) return <p class="empty">These runs have no server and stage in common.</p>;
  const found = servers.flatMap((each) => rowsOf(manifest, a, b, each, stage.name, noise));
  const rows = different ? found.filter((row) => row.word === 'worse' || row.word === 'better') : found;
  const alike =
    a.run.environment === b.run.environment && a.run.profile === b.run.profile && a.run.suite === b.run.suite;
  return (
    <>
      {!alike && (
        <p class="warning" role="note">
          These runs have different environments, suites or profiles: their difference may be that of the machines.
        </p>
      )}
      <p>
        A: <RunLink id={a.run.id}>{formatTime(a.run.created)}</RunLink> <bdi>{a.run.subject}</bdi>. B:{' '}
        <RunLink id={b.run.id}>{formatTime(b.run.created)}</RunLink> <bdi>{b.run.subject}</bdi>
      </p>
      <div class="controls">
        <Pick
          label="Server"
          name="server"
          value={both.includes(server) ? server : ALL}
          options={[{ value: ALL, text: 'all' }, ...both.map((each) => ({ value: each, text: each }))]}
        />
        <Pick
          label="Stage"
          name="stage"
          value={stage.name}
          options={stages.map((each) => ({ value: each.name, text: stageTitle(each) }))}
        />
        <Choice
          label="Rows"
          name="only"
          value={different ? '1' : '0'}
          options={[
            { value: '0', text: 'all' },
            { value: '1', text: 'only differences' },
          ]}
        />
      </div>
      {rows.length === 0 && <p class="empty">Nothing differs by more than its margin and the noise between runs.</p>}
      {rows.length > 0 && <RowsTable manifest={manifest} rows={rows} name={`${a.run.id} ${b.run.id}`} />}
      <p class="aside">
        {different && `${found.length - rows.length} rows are not shown. `}A word is said of metrics with a margin:
        outside of the noise between runs (its band, times the root of 2, because both runs scatter). With several
        trials, the smallest and the largest stand below the median.
      </p>
      <h2>How the latencies are distributed</h2>
      {servers.length === 1 ? (
        <>
          <Choice label="Latency" name="kind" value={kind} options={KINDS} />
          <DistributionChart
            title={`${servers[0]}: ${kind} latency at stage ${stage.name}`}
            version={JSON.stringify([a.run.id, b.run.id, servers, stage.name, kind])}
            distributions={[
              { label: 'A', tail: tailOf(a, servers[0] ?? '', stage.name, kind), shown: true },
              { label: 'B', tail: tailOf(b, servers[0] ?? '', stage.name, kind), shown: true },
            ]}
          />
        </>
      ) : (
        <p class="empty">Choose one server to see its latencies in both runs.</p>
      )}
    </>
  );
}

function RowsTable({ manifest, rows, name }: { manifest: Manifest; rows: Row[]; name: string }) {
  return (
    <Table
      name={name}
      columns={[
        { title: 'Server' },
        { title: 'Metric' },
        { title: 'A', numeric: true },
        { title: 'B', numeric: true },
        { title: 'Change', numeric: true },
        { title: 'Word' },
      ]}
      rows={rows.map((row): Cell[] => {
        const change = row.a && row.b && row.a[0] !== 0 ? row.b[0] / row.a[0] - 1 : null;
        return [
          { text: row.server },
          { text: metricTitle(manifest, row.metric) },
          spreadCell(manifest, row.metric, row.a),
          spreadCell(manifest, row.metric, row.b),
          { text: change === null ? absolute(manifest, row) : formatChange(change), value: change },
          { text: row.word, show: <WordMark word={row.word} /> },
        ];
      })}
    />
  );
}

/** Of what has no ratio. */
function absolute(manifest: Manifest, row: Row): string {
  if (!row.a || !row.b) return '-';
  const grown = row.b[0] - row.a[0];
  return `${grown > 0 ? '+' : ''}${formatQuantity(grown, manifest.metrics[row.metric]?.unit ?? 'count')}`;
}

function rowsOf(manifest: Manifest, a: Run, b: Run, server: string, stage: string, noise: Noise): Row[] {
  const [first, second] = [a, b].map(
    (run) =>
      run.servers.find((each) => each.server === server)?.stages.find((each) => each.name === stage)?.metrics ?? {},
  );
  const margins = manifest.margins[b.run.suite] ?? {};
  return Object.entries(manifest.metrics)
    .filter(([name]) => name in margins && (first?.[name] || second?.[name]))
    .map(([name, metric]) => {
      const [before, after] = [first?.[name], second?.[name]];
      const word =
        before && after ? wordFor(before[0], after[0], metric, margins[name], noise[server]?.[name]) : 'unknown';
      return { server, metric: name, a: before, b: after, word };
    });
}

type Noise = Record<string, Record<string, number>>;

/** Of the combination that run `b` is of: half widths of the bands, relative to their levels. */
function useNoise(manifest: Manifest, b: Run): Noise {
  const of = manifest.combinations.find(
    (each) => each.environment === b.run.environment && each.suite === b.run.suite && each.profile === b.run.profile,
  );
  const loaded = useLoaded(`noise ${of?.id}`, async () =>
    of ? load<Overview>(`${of.id}/overview`, of.overview) : null,
  );
  if (loaded.state !== 'ready' || !loaded.value) return {};
  return dictionary(loaded.value.rows.map((row): [string, Record<string, number>] => [row.server, row.noise]));
}

function tailOf(run: Run, server: string, stage: string, kind: string): number[] {
  return (
    run.servers.find((each) => each.server === server)?.stages.find((each) => each.name === stage)?.tails?.[kind] ?? []
  );
}
