// Two runs: each metric of a server in both, and whether they differ by more than runs do.

import { alike, changeInterval, wordFor } from '../data/compare';
import { dictionary, load } from '../data/load';
import { countedOtherwise } from '../data/method';
import type { Run, Spread, StageNumbers } from '../data/run-types';
import type { Manifest, Margin, Overview, Unit, Word, Words } from '../data/types';
import { metricTitle, unitOf, wordsOf } from '../data/words';
import { DistributionChart, LatencyChoice, latencyOf } from '../parts/distribution';
import { Choice, Pick, RunLink, ServerLink, WordMark } from '../parts/page';
import { chosenStage, metricCell, StagePick, stageOf } from '../parts/stages';
import { Swatch } from '../parts/swatch';
import { type Cell, Table } from '../parts/table';
import { serverStroke } from '../theme';
import { formatChange, formatQuantity, formatTime, NOT_MEASURED } from '../units';

export interface Pair {
  a: Run;
  b: Run;
  /** null if it is not known */
  noise: Noise | null;
}

interface Noise {
  /** the stage at which the noise was found */
  stage: string | null;
  /** by server and metric: half widths of the bands, relative to their levels */
  of: Record<string, Record<string, number>>;
}

interface Props extends Pair {
  manifest: Manifest;
  query: URLSearchParams;
}

interface Row {
  metric: string;
  /** the stages of the metric in both runs */
  in: { a: StageNumbers | undefined; b: StageNumbers | undefined };
  a: Spread | undefined;
  b: Spread | undefined;
  /** half width of the band of the runs, relative to their level */
  noise: number | undefined;
  margin: Margin | undefined;
  word: Word;
}

const ALL = '*';

export function RunsCompared({ manifest, query, a, b, noise }: Props) {
  const words = wordsOf(manifest, b.run.suite);
  const both = b.servers
    .map((each) => each.server)
    .filter((server) => a.servers.some((each) => each.server === server));
  const server = query.get('server') ?? ALL;
  const servers = both.includes(server) ? [server] : both;
  const stages = b.servers.find((each) => servers.includes(each.server))?.stages ?? [];
  const stage = chosenStage(stages, query);
  if (!stage) {
    const [inA, inB] = [a, b].map((run) => run.servers.map((each) => each.server).join(', ') || 'nothing');
    return (
      <p class="empty">
        These runs have no server and stage in common: A measured {inA}; B measured {inB}.
      </p>
    );
  }
  const found = servers.map((each) => changesOf(manifest, a, b, each, stage.name, noise)).sort(worstFirst);
  const known = found.some((each) => each.rows.some((row) => row.noise !== undefined));
  const asked = query.get('only');
  const different = asked === '1' || (asked !== '0' && known); // before the noise is known, nothing would be left
  const shown = different ? found.filter((each) => each.worse + each.better > 0) : found;
  const rows = found.flatMap((each) => each.rows);
  const left = different ? rows.filter((row) => !isDifferent(row)).length : null;
  return (
    <>
      <Pairing words={words} a={a} b={b} />
      <Controls both={both} server={server} stages={stages} stage={stage} different={different} />
      {known ? (
        <Summary found={found} />
      ) : (
        <p class="warning" role="note">
          The noise between runs is not known, so no difference can be judged.
        </p>
      )}
      {shown.map((each) => (
        <ServerChanges
          key={each.server}
          manifest={manifest}
          words={words}
          found={each}
          rows={different ? each.rows.filter(isDifferent) : each.rows}
          name={`${a.run.id} ${b.run.id} ${each.server}`}
        />
      ))}
      <Explanation left={left} noise={noise} stage={stage} />
      <h2>How the latencies are distributed</h2>
      {servers.length === 1 ? (
        <Distributions words={words} query={query} a={a} b={b} server={servers[0] ?? ''} stage={stage.name} />
      ) : (
        <p class="empty">Choose one server to see its latencies in both runs.</p>
      )}
    </>
  );
}

/** Which two these are, and whether they can be compared at all. */
function Pairing({ words, a, b }: { words: Words; a: Run; b: Run }) {
  const [methodA, methodB] = [a.run.method ?? 1, b.run.method ?? 1];
  const otherwise = countedOtherwise(words, Object.keys(words.metrics), Math.min(methodA, methodB));
  return (
    <>
      {!alike(a.run, b.run) && (
        <p class="warning" role="note">
          These runs have different environments, suites or profiles, so they may differ because of the machine.
          {methodA !== methodB && ` Metrics that they count differently are not judged. ${otherwise}`}
        </p>
      )}
      <p>
        A: <RunLink id={a.run.id}>{formatTime(a.run.created)}</RunLink> <bdi>{a.run.subject}</bdi>. B:{' '}
        <RunLink id={b.run.id}>{formatTime(b.run.created)}</RunLink> <bdi>{b.run.subject}</bdi>
      </p>
    </>
  );
}

/** What differs in one server. */
interface Found {
  server: string;
  rows: Row[];
  worse: number;
  better: number;
}

const isDifferent = ({ word }: Row) => word === 'worse' || word === 'better';

function changesOf(manifest: Manifest, a: Run, b: Run, server: string, stage: string, noise: Noise | null): Found {
  const rows = rowsOf(manifest, a, b, server, stage, noise);
  const count = (word: Word) => rows.filter((row) => row.word === word).length;
  return { server, rows, worse: count('worse'), better: count('better') };
}

const worstFirst = (one: Found, other: Found) => other.worse - one.worse || other.better - one.better;

function Summary({ found }: { found: Found[] }) {
  const same = found.filter((each) => each.worse + each.better === 0).map((each) => each.server);
  if (same.length === found.length) {
    return <p class="empty">Nothing differs by more than its margin and the noise between runs.</p>;
  }
  return (
    <p>
      {found.length - same.length} of {found.length} servers differ
      {same.length > 0 && `; no difference beyond margin and noise in ${same.join(', ')}`}.
    </p>
  );
}

interface ServerChangesProps {
  manifest: Manifest;
  words: Words;
  found: Found;
  rows: Row[];
  name: string;
}

function ServerChanges({ manifest, words, found: { server, worse, better }, rows, name }: ServerChangesProps) {
  const counts = [...(worse ? [`${worse} worse`] : []), ...(better ? [`${better} better`] : [])].join(', ');
  return (
    <section class="changes" aria-label={server}>
      <h2>
        <Swatch stroke={serverStroke(manifest.looks, server)} /> <ServerLink server={server} />
        {counts && `: ${counts}`}
      </h2>
      <RowsTable words={words} rows={rows} name={name} />
    </section>
  );
}

interface ControlsProps {
  both: string[];
  server: string;
  stages: StageNumbers[];
  stage: StageNumbers;
  different: boolean;
}

function Controls({ both, server, stages, stage, different }: ControlsProps) {
  return (
    <div class="controls">
      <Pick
        label="Server"
        name="server"
        value={both.includes(server) ? server : ALL}
        options={[{ value: ALL, text: 'all' }, ...both.map((each) => ({ value: each, text: each }))]}
      />
      <StagePick stages={stages} chosen={stage} />
      <Choice
        label="Rows"
        name="only"
        value={different ? '1' : '0'}
        options={[
          { value: '1', text: 'only differences' },
          { value: '0', text: 'all' },
        ]}
      />
    </div>
  );
}

/** `left` is the number of hidden rows, if only differences are shown. */
function Explanation({ left, noise, stage }: { left: number | null; noise: Props['noise']; stage: StageNumbers }) {
  return (
    <p class="aside">
      {left !== null && `${left} rows are hidden. `}Only metrics with a margin are judged. The interval is the change
      plus or minus the noise between runs: half the width of their band
      {noise && noise.stage !== null && noise.stage !== stage.name && ` at stage ${noise.stage}`}, times the square root
      of 2, because both runs scatter. Worse or better is a change of at least the margin whose interval excludes 0;
      same is an interval within the margin. With several trials, the smallest and the largest stand below the median.
    </p>
  );
}

interface DistributionsProps {
  words: Words;
  query: URLSearchParams;
  a: Run;
  b: Run;
  server: string;
  stage: string;
}

function Distributions({ words, query, a, b, server, stage }: DistributionsProps) {
  const stages = [stageOf(a, server, stage), stageOf(b, server, stage)];
  const latency = latencyOf(words, stages, query);
  const [before, after] = stages.map((each) => each?.tails?.[latency.name] ?? []);
  return (
    <>
      <LatencyChoice words={words} latency={latency} />
      <DistributionChart
        title={`${server}: ${latency.title} at stage ${stage}`}
        version={JSON.stringify([a.run.id, b.run.id, [server], stage, latency.name])}
        distributions={[
          { label: 'A', tail: before ?? [], shown: true },
          { label: 'B', tail: after ?? [], shown: true },
        ]}
      />
    </>
  );
}

function RowsTable({ words, rows, name }: { words: Words; rows: Row[]; name: string }) {
  return (
    <Table
      name={name}
      columns={[
        { title: 'Metric' },
        { title: 'A', numeric: true },
        { title: 'B', numeric: true },
        { title: 'Change', numeric: true },
        { title: 'Interval', numeric: true, about: 'the range of the change, given the noise between runs' },
        { title: 'Margin', numeric: true, about: 'the smallest change that counts' },
        { title: 'Verdict' },
      ]}
      rows={rows.map((row): Cell[] => {
        const change = row.a && row.b && row.a[0] !== 0 ? row.b[0] / row.a[0] - 1 : null;
        return [
          { text: metricTitle(words, row.metric) },
          metricCell(words, row.metric, row.in.a),
          metricCell(words, row.metric, row.in.b),
          { text: change === null ? absolute(words, row) : formatChange(change), value: change },
          intervalCell(change, row.noise),
          marginCell(row.margin, unitOf(words, row.metric)),
          { text: row.word, show: <WordMark word={row.word} /> },
        ];
      })}
    />
  );
}

function intervalCell(change: number | null, noise: number | undefined): Cell {
  if (change === null || noise === undefined) return { text: NOT_MEASURED, value: null };
  const [low, high] = changeInterval(change, noise).map(formatChange);
  return { text: `${low} to ${high}` };
}

function marginCell(margin: Margin | undefined, unit: Unit): Cell {
  if (!margin) return { text: NOT_MEASURED, value: null };
  const least = margin.floor > 0 ? `, at least ${formatQuantity(margin.floor, unit)}` : '';
  return { text: `${formatQuantity(margin.margin, 'ratio')}${least}` };
}

/** The text of a change that has no ratio. */
function absolute(words: Words, row: Row): string {
  if (!row.a || !row.b) return NOT_MEASURED;
  const grown = row.b[0] - row.a[0];
  return `${grown > 0 ? '+' : ''}${formatQuantity(grown, unitOf(words, row.metric))}`;
}

function rowsOf(manifest: Manifest, a: Run, b: Run, server: string, stage: string, noise: Noise | null): Row[] {
  const stages = { a: stageOf(a, server, stage), b: stageOf(b, server, stage) };
  const [first, second] = [stages.a?.metrics, stages.b?.metrics];
  const sameMethod = (a.run.method ?? 1) === (b.run.method ?? 1);
  const margins = manifest.margins[b.run.suite] ?? {};
  return Object.entries(wordsOf(manifest, b.run.suite).metrics)
    .filter(([name]) => name in margins && (first?.[name] || second?.[name]))
    .map(([name, metric]) => {
      const [before, after] = [first?.[name], second?.[name]];
      const scatter = noise?.of[server]?.[name];
      const alikeDefined = sameMethod || !metric.method_1;
      const word =
        before && after && alikeDefined ? wordFor(before[0], after[0], metric, margins[name], scatter) : 'unknown';
      return { metric: name, in: stages, a: before, b: after, noise: scatter, margin: margins[name], word };
    });
}

/** The noise of a run's combination; null if the run has none. */
export async function loadNoise(manifest: Manifest, { run }: Run): Promise<Noise | null> {
  const of = manifest.combinations.find((each) => alike(each, run));
  if (!of) return null;
  const { stage, rows } = await load<Overview>(`${of.id}/overview`, of.overview);
  return { stage, of: dictionary(rows.map((row): [string, Record<string, number>] => [row.server, row.noise])) };
}
