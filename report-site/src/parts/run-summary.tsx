// All servers of a run at once, those that failed first; each links to its trials.

import type { Run, RunServer, StageNumbers } from '../data/run-types';
import type { Manifest, Outcome, Words } from '../data/types';
import { metricTitle, unitOf, worthShowing } from '../data/words';
import { here } from '../route';
import { serverStroke } from '../theme';
import { formatterOf } from '../units';
import { OutcomeMark } from './page';
import { chosenStage, metricCell, stageOf, stageTitle } from './stages';
import { Swatch } from './swatch';
import { Table } from './table';

const WORST: (Outcome | null)[] = ['fail', 'invalid', 'inconclusive', null, 'pass'];

/** The outcome of a server; without a verdict, only whether anything was measured. */
export function outcomeOf(run: Run, server: RunServer): Outcome | null {
  const judged = run.verdict?.servers.find((each) => each.server === server.server)?.outcome;
  return judged ?? (server.trials > 0 && server.valid === 0 ? 'invalid' : null);
}

/** The worst first: a failure is on the first screen. */
export function worstFirst(run: Run): RunServer[] {
  const rank = (server: RunServer) => WORST.indexOf(outcomeOf(run, server));
  return [...run.servers].sort((a, b) => rank(a) - rank(b));
}

interface Props {
  manifest: Manifest;
  words: Words;
  query: URLSearchParams;
  run: Run;
  chosen: RunServer | undefined;
}

export function RunSummary({ manifest, words, query, run, chosen }: Props) {
  const servers = worstFirst(run);
  const stage = chosenStage(servers.find((server) => server.stages.length)?.stages ?? [], query);
  if (!stage) return null;
  const numbers = (server: RunServer) => stageOf(run, server.server, stage.name);
  const wanted = ['throughput_per_second', words.headline, 'loss_ratio', words.cost, 'cpu_cores', 'memory_bytes.peak'];
  const median = (server: RunServer, metric: string) => numbers(server)?.metrics[metric]?.[0];
  const metrics = wanted.filter((metric) =>
    worthShowing(
      metric,
      servers.map((server) => median(server, metric)),
    ),
  );
  const formats = new Map(
    metrics.map((metric) => [
      metric,
      formatterOf(
        servers.map((server) => median(server, metric)),
        unitOf(words, metric),
      ),
    ]),
  );
  return (
    <section aria-labelledby="summary">
      <h2 id="summary">All servers at {stageTitle(stage)}</h2>
      <Table
        name={`${run.run.id} servers`}
        columns={[
          { title: 'Server' },
          { title: 'Verdict' },
          ...metrics.map((metric) => ({ title: metricTitle(words, metric), numeric: true })),
          { title: 'Valid trials', numeric: true },
        ]}
        rows={servers.map((server) => [
          {
            text: server.server,
            show: (
              <>
                <Swatch stroke={serverStroke(manifest.looks, server.server)} />{' '}
                <a
                  href={here({ server: server.server, trial: null })}
                  aria-current={server === chosen ? 'true' : undefined}
                >
                  {server.server}
                </a>
              </>
            ),
          },
          { text: outcomeOf(run, server) ?? 'not judged', show: <OutcomeMark outcome={outcomeOf(run, server)} /> },
          ...metrics.map((metric) => cellOf(words, metric, numbers(server), formats.get(metric))),
          { text: `${server.valid} of ${server.trials}`, value: server.valid },
        ])}
      />
    </section>
  );
}

function cellOf(words: Words, metric: string, stage: StageNumbers | undefined, format?: (value: number) => string) {
  return { ...metricCell(words, metric, stage, format), ...(stage?.believed === false ? { kind: 'doubtful' } : {}) };
}
