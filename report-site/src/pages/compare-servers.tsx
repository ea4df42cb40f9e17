// The servers of one run side by side, in one stage or one metric across all stages.

import { countedOtherwise } from '../data/method';
import type { Manifest, Run, StageNumbers } from '../data/types';
import { DistributionChart, KINDS } from '../parts/distribution';
import { Choice, metricTitle, Pick, RunLink } from '../parts/page';
import { chosenStage, metricCell, StagePick, stageTitle } from '../parts/stages';
import { type Cell, Table } from '../parts/table';
import { go, here } from '../route';

const COLUMNS = [
  'throughput_per_second',
  'loss_ratio',
  'echo_seconds.mean',
  'echo_seconds.p95',
  'echo_seconds.p99',
  'delivery_seconds.p50',
  'delivery_seconds.p95',
  'delivery_seconds.p99',
  'delivery_seconds.max',
  'cpu_cores',
  'cpu_seconds_per_delivery',
  'services_cpu_seconds_per_delivery',
  'memory_bytes.peak',
  'network_in_bytes_per_second',
  'network_out_bytes_per_second',
];

export function ServersCompared({ manifest, query, run }: { manifest: Manifest; query: URLSearchParams; run: Run }) {
  const stages = run.servers.find((server) => server.stages.length)?.stages ?? [];
  const stage = chosenStage(stages, query);
  const metrics = COLUMNS.filter((metric) =>
    run.servers.some((server) => server.stages.some((each) => each.metrics[metric])),
  );
  const by = query.get('by') ?? 'stage';
  const metric = metrics.includes(query.get('metric') ?? '') ? (query.get('metric') as string) : (metrics[0] ?? '');
  const hidden = query.getAll('hide');
  const kind = query.get('kind') ?? 'delivery';
  if (!stage) return <p class="empty">No stage of this run was measured.</p>;
  const otherwise = countedOtherwise(manifest, by === 'stage' ? metrics : [metric], run.run.method);
  const shown = run.servers.filter((server) => !hidden.includes(server.server));
  return (
    <>
      <p>
        <RunLink id={run.run.id}>{run.run.id}</RunLink>: {run.run.suite}, {run.run.profile}
      </p>
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
            options={metrics.map((each) => ({ value: each, text: metricTitle(manifest, each) }))}
          />
        )}
      </div>
      {by === 'stage' ? (
        <Table
          name={`${run.run.id} stage ${stage.name}`}
          columns={[
            { title: 'Server' },
            ...metrics.map((each) => ({ title: metricTitle(manifest, each), numeric: true })),
          ]}
          rows={shown.map((server) => {
            const found = server.stages.find((each) => each.name === stage.name);
            return [serverCell(run, server.server, found), ...metrics.map((each) => metricCell(manifest, each, found))];
          })}
        />
      ) : (
        <Table
          name={`${run.run.id} ${metric}`}
          columns={[{ title: 'Server' }, ...stages.map((each) => ({ title: stageTitle(each), numeric: true }))]}
          rows={shown.map((server) => [
            serverCell(run, server.server, server.stages[0]),
            ...stages.map((each) =>
              metricCell(
                manifest,
                metric,
                server.stages.find((own) => own.name === each.name),
              ),
            ),
          ])}
        />
      )}
      {otherwise && <p class="aside">{otherwise}</p>}
      {run.run.whole && (
        <>
          <h2>How the latencies are distributed</h2>
          <Choice label="Latency" name="kind" value={kind} options={KINDS} />
          <DistributionChart
            title={`${kind} latency at stage ${stage.name}`}
            version={JSON.stringify([run.run.id, stage.name, kind, hidden])}
            distributions={run.servers.flatMap((server) => {
              const tail = server.stages.find((each) => each.name === stage.name)?.tails?.[kind];
              return tail ? [{ label: server.server, tail, shown: !hidden.includes(server.server) }] : [];
            })}
            onToggle={(name) =>
              go({ hide: hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name] })
            }
            onOnly={(name) => go({ hide: run.servers.map((server) => server.server).filter((each) => each !== name) })}
          />
        </>
      )}
      {hidden.length > 0 && <a href={here({ hide: null })}>Show all servers</a>}
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
        {doubtful && <span class="mark invalid">{'\u2205'} invalid</span>}
      </>
    ),
  };
}
