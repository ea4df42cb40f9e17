// The servers of one run side by side, in one stage or one metric across all stages.

import { countedOtherwise } from '../data/method';
import type { Run, StageNumbers } from '../data/run-types';
import type { Manifest, Words } from '../data/types';
import { capital, inSentence, metricTitle, unitOf, wordsOf, worthShowing } from '../data/words';
import { DistributionChart, LatencyChoice, latencyOf } from '../parts/distribution';
import { LoadCurves } from '../parts/load-curve';
import { Choice, OutcomeMark, Pick, RunLink } from '../parts/page';
import { sortedBy } from '../parts/sorting';
import { chosenStage, metricCell, StagePick, stageOf, stageTitle } from '../parts/stages';
import { type Cell, Table } from '../parts/table';
import { go, here } from '../route';
import { serverStroke } from '../theme';
import { formatterOf } from '../units';

export function ServersCompared({ manifest, query, run }: { manifest: Manifest; query: URLSearchParams; run: Run }) {
  const stages = run.servers.find((server) => server.stages.length)?.stages ?? [];
  const stage = chosenStage(stages, query);
  const words = wordsOf(manifest, run.run.suite);
  const by = query.get('by') ?? 'stage';
  const metrics = worthComparing(words, run, by === 'stage' ? stage?.name : undefined);
  const asked = query.get('metric') ?? '';
  const metric = [asked, words.headline].find((each) => words.metrics[each]) ?? metrics[0] ?? '';
  const hidden = query.getAll('hide');
  if (!stage) return <p class="empty">No stage of this run was measured.</p>;
  const otherwise = countedOtherwise(words, by === 'stage' ? metrics : [metric], run.run.method);
  const shown = run.servers.filter((server) => !hidden.includes(server.server));
  const onToggle = (name: string) =>
    go({ hide: hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name] });
  const onOnly = (name: string) =>
    go({ hide: run.servers.map((server) => server.server).filter((each) => each !== name) });
  return (
    <>
      <p>
        <RunLink id={run.run.id}>{run.run.id}</RunLink>: {inSentence(words.title)}, {run.run.profile}
      </p>
      <TableControls {...{ words, by, metrics, metric, stages, stage }} />
      {by === 'stage' ? (
        <StageTable words={words} query={query} run={run} servers={shown} metrics={metrics} stage={stage} />
      ) : (
        <MetricTable words={words} query={query} run={run} servers={shown} metric={metric} stages={stages} />
      )}
      {otherwise && <p class="aside">{otherwise}</p>}
      <h2>Against load</h2>
      <LoadCurves manifest={manifest} words={words} query={query} run={run} {...{ hidden, onToggle, onOnly }} />
      {run.run.whole && (
        <Distributions
          manifest={manifest}
          words={words}
          query={query}
          run={run}
          stage={stage}
          {...{ hidden, onToggle, onOnly }}
        />
      )}
      {hidden.length > 0 && <a href={here({ hide: null })}>Show all servers</a>}
    </>
  );
}

interface ControlsProps {
  words: Words;
  by: string;
  metrics: string[];
  metric: string;
  stages: StageNumbers[];
  stage: StageNumbers;
}

function TableControls({ words, by, metrics, metric, stages, stage }: ControlsProps) {
  return (
    <div class="controls">
      <Choice
        label="Table of"
        name="by"
        value={by}
        options={[
          { value: 'stage', text: 'one stage' },
          { value: 'metric', text: 'one metric' },
        ]}
      />
      {by === 'stage' ? (
        <StagePick stages={stages} chosen={stage} />
      ) : (
        <Pick
          label="Metric"
          name="metric"
          value={metric}
          options={[...new Set([...metrics, metric])].map((each) => ({
            value: each,
            text: metricTitle(words, each),
          }))}
        />
      )}
    </div>
  );
}

/**
 * The metrics of a table that any server has, in one stage or in any; without what clients begin, which is the same for
 * all servers.
 */
function worthComparing(words: Words, run: Run, stage: string | undefined): string[] {
  const stages = run.servers.flatMap((server) =>
    server.stages.filter((each) => stage === undefined || each.name === stage),
  );
  const columns = words.columns.filter((metric) => metric !== 'messages_per_second');
  return columns.filter((metric) =>
    worthShowing(
      metric,
      stages.map((each) => each.metrics[metric]?.[0]),
    ),
  );
}

interface TableProps {
  words: Words;
  query: URLSearchParams;
  run: Run;
  servers: Run['servers'];
}

/** All metrics in one stage, each in one unit. */
function StageTable({
  words,
  query,
  run,
  servers,
  metrics,
  stage,
}: TableProps & { metrics: string[]; stage: StageNumbers }) {
  const found = servers.map((server) => ({ server, at: server.stages.find((each) => each.name === stage.name) }));
  const formats = metrics.map((metric) =>
    formatterOf(
      found.map(({ at }) => at?.metrics[metric]?.[0]),
      unitOf(words, metric),
    ),
  );
  const columns = metrics.map((each) => ({ title: metricTitle(words, each), key: each, numeric: true }));
  const rows = found.map(({ server, at }) => [
    serverCell(run, server.server, at),
    ...metrics.map((each, index) => metricCell(words, each, at, formats[index])),
  ]);
  return (
    <Table
      name={`${run.run.id} stage ${stage.name}`}
      {...sortedBy(query, [{ title: 'Server', key: 'server' }, ...columns], rows)}
    />
  );
}

/** One metric in all stages, in one unit. */
function MetricTable({
  words,
  query,
  run,
  servers,
  metric,
  stages,
}: TableProps & { metric: string; stages: StageNumbers[] }) {
  const format = formatterOf(
    servers.flatMap((server) => server.stages.map((each) => each.metrics[metric]?.[0])),
    unitOf(words, metric),
  );
  const columns = stages.map((each) => ({ title: stageTitle(each), key: each.name, numeric: true }));
  const rows = servers.map((server) => [
    serverCell(run, server.server, server.stages[0]),
    ...stages.map((each) => {
      const at = server.stages.find((own) => own.name === each.name);
      return metricCell(words, metric, at, format);
    }),
  ]);
  return (
    <Table
      name={`${run.run.id} ${metric}`}
      {...sortedBy(query, [{ title: 'Server', key: 'server' }, ...columns], rows)}
    />
  );
}

interface DistributionsProps {
  manifest: Manifest;
  words: Words;
  query: URLSearchParams;
  run: Run;
  stage: StageNumbers;
  hidden: string[];
  onToggle: (server: string) => void;
  onOnly: (server: string) => void;
}

function Distributions({ manifest, words, query, run, stage, hidden, onToggle, onOnly }: DistributionsProps) {
  const found = run.servers.map((server) => ({ server, at: stageOf(run, server.server, stage.name) }));
  const latency = latencyOf(
    words,
    found.map((each) => each.at),
    query,
  );
  return (
    <>
      <h2>How the latencies are distributed</h2>
      <LatencyChoice words={words} latency={latency} />
      <DistributionChart
        title={`${capital(latency.title)} at stage ${stage.name}`}
        version={JSON.stringify([run.run.id, stage.name, latency.name, hidden])}
        distributions={found.flatMap(({ server, at }) => {
          const tail = at?.tails?.[latency.name];
          if (!tail?.length) return [];
          const label = server.server;
          return [{ label, tail, shown: !hidden.includes(label), stroke: serverStroke(manifest.looks, label) }];
        })}
        onToggle={onToggle}
        onOnly={onOnly}
      />
    </>
  );
}

function serverCell(run: Run, server: string, stage: StageNumbers | undefined): Cell {
  const doubtful = stage?.believed === false || run.servers.find((each) => each.server === server)?.valid === 0;
  return {
    text: doubtful ? `${server} (invalid)` : server,
    show: (
      <>
        <RunLink id={run.run.id} server={server}>
          {server}
        </RunLink>
        {doubtful && <OutcomeMark outcome="invalid" />}
      </>
    ),
  };
}
