// One run: its outcome, the results of each server, and a trial second by second.

import { useLoaded } from '../data/load';
import { countedOtherwise } from '../data/method';
import { loadRun } from '../data/run';
import type { Run, RunServer, StageNumbers } from '../data/run-types';
import type { Manifest, Words } from '../data/types';
import { metricTitle, wordsOf, worthShowing } from '../data/words';
import { Changes, Environment, Reproduce } from '../parts/about-run';
import { DistributionChart, LatencyChoice, latencyOf } from '../parts/distribution';
import { ServerCurves } from '../parts/load-curve';
import { AtCommit, OutcomeMark, Pick, parametersText, Shown, Subject } from '../parts/page';
import { RunSummary, worstFirst } from '../parts/run-summary';
import { metricCell, stageTitle } from '../parts/stages';
import { type Cell, Table } from '../parts/table';
import { TrialTimeline } from '../parts/timeline';
import { go, here, href } from '../route';
import { formatTime } from '../units';

const FEW = 5;

interface Props {
  manifest: Manifest;
  query: URLSearchParams;
  id: string;
}

export function RunPage({ manifest, query, id }: Props) {
  const loaded = useLoaded(id, () => loadRun(manifest, id));
  return (
    <>
      <h1>Run {id}</h1>
      <Shown loaded={loaded}>{(run) => <Whole manifest={manifest} query={query} run={run} />}</Shown>
    </>
  );
}

function Whole({ manifest, query, run }: { manifest: Manifest; query: URLSearchParams; run: Run }) {
  const about = run.run;
  const words = wordsOf(manifest, about.suite);
  const server = run.servers.find((each) => each.server === query.get('server')) ?? worstFirst(run)[0];
  return (
    <>
      <section class="panel" aria-label="Verdict">
        <p class="lead">
          <OutcomeMark outcome={about.outcome} /> {formatTime(about.created)} UTC,{' '}
          <AtCommit manifest={manifest} commit={about.commit} />
          {about.subject && ': '}
          <Subject manifest={manifest} text={about.subject} />
        </p>
        <p>
          {words.title}, {about.profile}, {parametersText(run.parameters)}; {about.valid} of {about.trials} trials valid
          {about.dirty && '; its sources had uncommitted changes'}
        </p>
        {run.environment && (
          <p>
            {run.environment.cpu_model.replace(/\((R|TM)\)/g, '')}, {run.environment.physical_cores ?? 'unknown'} cores,{' '}
            {run.environment.driver}, environment {run.environment.key}
          </p>
        )}
        {run.machines
          ?.filter((machine) => machine.apart)
          .map(({ name, apart }) => (
            <p key={name}>
              <strong>Measured on {name}, apart from the other machines:</strong> {apart}
            </p>
          ))}
        <Reasons run={run} />
        <p class="links">
          {run.record && <a href={run.record}>the record ({run.record.endsWith('.gz') ? 'JSON, gzip' : 'JSON'})</a>}
          {!about.comparison && <a href={href('compare', { run: about.id })}>servers side by side</a>}
        </p>
        {!about.whole && (
          <p class="aside">
            Only the medians of this run were kept: no timeline, distribution or verdict.
            {manifest.keep !== null && ` This site keeps full records of its newest runs only: ${manifest.keep}.`}
          </p>
        )}
      </section>
      <RunSummary manifest={manifest} words={words} query={query} run={run} chosen={server} />
      {run.verdict && run.verdict.changes.length > 0 && <Changes words={words} changes={run.verdict.changes} />}
      {server && <ServerPart manifest={manifest} words={words} query={query} run={run} server={server} />}
      <Reproduce run={run} />
      <Environment run={run} />
    </>
  );
}

function Reasons({ run }: { run: Run }) {
  const { verdict, skipped = [] } = run;
  return (
    <>
      {verdict && verdict.reasons.length > 0 && <ReasonList run={run} reasons={worstReasons(run, verdict.reasons)} />}
      {verdict && verdict.notes.length > 0 && (
        <details>
          <summary>{verdict.notes.length === 1 ? '1 note' : `${verdict.notes.length} notes`}</summary>
          <ul>
            {verdict.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </details>
      )}
      {skipped.length > 0 && (
        <p class="aside">Not measured: {skipped.map((each) => `${each.server} (${each.reason})`).join('; ')}</p>
      )}
    </>
  );
}

/** The reasons, those of failed servers first. */
function worstReasons(run: Run, reasons: string[]): string[] {
  const about = (reason: string) =>
    run.verdict?.servers.find((each) => each.outcome === 'fail' && each.reasons.includes(reason)) ? 0 : 1;
  return [...reasons].sort((a, b) => about(a) - about(b));
}

function ReasonList({ run, reasons }: { run: Run; reasons: string[] }) {
  const list = (some: string[]) => (
    <ul class="reasons">
      {some.map((reason) => (
        <li key={reason}>
          <ReasonLink run={run} reason={reason} />
        </li>
      ))}
    </ul>
  );
  return (
    <>
      {list(reasons.slice(0, FEW))}
      {reasons.length > FEW && (
        <details>
          <summary>{reasons.length - FEW} more reasons</summary>
          {list(reasons.slice(FEW))}
        </details>
      )}
    </>
  );
}

/** A link to the server that a reason is about. */
function ReasonLink({ run, reason }: { run: Run; reason: string }) {
  const about = run.verdict?.servers.find((each) => each.reasons.includes(reason));
  return about ? <a href={here({ server: about.server, trial: null })}>{reason}</a> : <span>{reason}</span>;
}

interface ServerProps {
  manifest: Manifest;
  words: Words;
  query: URLSearchParams;
  run: Run;
  server: RunServer;
}

function ServerPart({ manifest, words, query, run, server }: ServerProps) {
  const outcome = run.verdict?.servers.find((each) => each.server === server.server)?.outcome ?? null;
  const hidden = query.getAll('hide');
  const latency = latencyOf(words, server.stages, query);
  const tails = server.stages.filter((stage) => stage.tails?.[latency.name]?.length);
  return (
    <>
      <h2>{server.server}</h2>
      <div class="controls">
        <Pick
          label="Server"
          name="server"
          value={server.server}
          options={run.servers.map((each) => ({ value: each.server, text: each.server }))}
          forget={['trial']}
        />
        {outcome && <OutcomeMark outcome={outcome} />}
        {server.reported && (
          <span class="muted">
            {server.reported.runtime}, {server.reported.framework}
          </span>
        )}
      </div>
      <Trials server={server} />
      <StageTable words={words} run={run} server={server} />
      <h3>Against load</h3>
      <ServerCurves manifest={manifest} words={words} query={query} run={run} server={server} />
      {run.run.whole && server.of && server.of.length > 0 && (
        <TrialTimeline words={words} run={run} server={server} query={query} />
      )}
      {run.run.whole && (
        <section aria-labelledby="distribution">
          <h3 id="distribution">How the latencies are distributed</h3>
          <LatencyChoice words={words} latency={latency} />
          <DistributionChart
            title={`${server.server}: ${latency.title}, by stage`}
            version={JSON.stringify([run.run.id, server.server, latency.name, hidden])}
            distributions={tails.map((stage) => ({
              label: stage.name,
              tail: stage.tails?.[latency.name] ?? [],
              shown: !hidden.includes(stage.name),
            }))}
            onToggle={(name) =>
              go({ hide: hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name] })
            }
          />
        </section>
      )}
    </>
  );
}

function Trials({ server }: { server: RunServer }) {
  const noted = (server.of ?? []).filter(
    (trial) => !trial.valid || trial.failure || trial.warnings.length || trial.errors.length,
  );
  if (!noted.length) return null;
  return (
    <ul class="reasons">
      {noted.map((trial) => (
        <li key={`${trial.arm} ${trial.round}`}>
          Round {trial.round}
          {trial.arm === 'base' && ' of the base'}: {!trial.valid && <OutcomeMark outcome="invalid" />}{' '}
          {[...trial.reasons, ...trial.warnings.map((text) => `warning: ${text}`)].join('; ')}
          {trial.failure && (
            <>
              <span class="mark fail">failed</span> {trial.failure.step}: {trial.failure.message}
              {trial.failure.log.length > 0 && <pre>{trial.failure.log.join('\n')}</pre>}
            </>
          )}
          {trial.errors.length > 0 &&
            ` clients saw: ${trial.errors.map((each) => `${each.reason} (${each.count} times)`).join(', ')}`}
        </li>
      ))}
    </ul>
  );
}

/** Rows of the parts of a system, which are summed up in the rows of the server. */
function partRows(words: Words, stages: StageNumbers[]): Cell[][] {
  const parts = [...new Set(stages.flatMap((stage) => Object.keys(stage.parts ?? {})))];
  return parts.flatMap((part) =>
    [words.cost, 'cpu_cores', 'memory_bytes.peak'].map((metric) => [
      { text: `${part}: ${metricTitle(words, metric)}` },
      ...stages.map((stage) => metricCell(words, metric, { ...stage, metrics: stage.parts?.[part] ?? {} })),
    ]),
  );
}

/** Metrics by stage: latency, CPU and memory, then those of the comparison's table, then all others. */
function StageTable({ words, run, server }: { words: Words; run: Run; server: RunServer }) {
  const stages = server.stages.filter((stage) => Object.keys(stage.metrics).length);
  if (!stages.length) return <p class="empty">No stage was measured.</p>;
  const first = ['clients', words.headline, words.cost, 'cpu_cores', 'memory_bytes.peak'];
  const all = new Set([...first, ...words.columns, ...Object.keys(words.metrics)]);
  const metrics = [...all].filter((metric) =>
    worthShowing(
      metric,
      stages.map((stage) => stage.metrics[metric]?.[0]),
    ),
  );
  const doubtful = stages.some((stage) => stage.believed === false);
  const otherwise = countedOtherwise(words, metrics, run.run.method);
  const rows: Cell[][] = metrics.map((metric) => [
    { text: metricTitle(words, metric) },
    ...stages.map((stage) => metricCell(words, metric, stage)),
  ]);
  const parts = partRows(words, stages);
  return (
    <>
      <Table
        name={`${run.run.id} ${server.server}`}
        first={18 + parts.length}
        columns={[{ title: 'Metric' }, ...stages.map((stage) => ({ title: stageTitle(stage), numeric: true }))]}
        rows={[...rows.slice(0, first.length), ...parts, ...rows.slice(first.length)]}
      />
      {doubtful && <p class="aside">No trial was valid: do not trust these numbers.</p>}
      {otherwise && <p class="aside">{otherwise}</p>}
    </>
  );
}
