// The newest runs.

import type { Manifest, RunRow } from '../data/types';
import { wordsOf } from '../data/words';
import { Choice, CommitLink, OutcomeMark, RunLink, Subject } from '../parts/page';
import { sortedBy } from '../parts/sorting';
import { Table } from '../parts/table';
import { formatTime } from '../units';

const ALL = '*';

export function RunsPage({ manifest, query }: { manifest: Manifest; query: URLSearchParams }) {
  const suites = [...new Set(manifest.runs.map((run) => run.suite))];
  const asked = query.get('suite') ?? ALL;
  const suite = suites.includes(asked) ? asked : ALL;
  const runs = manifest.runs.filter((run) => suite === ALL || run.suite === suite);
  return (
    <>
      <h1>Runs</h1>
      {suites.length > 1 && (
        <Choice
          label="Suite"
          name="suite"
          value={suite}
          options={[
            { value: ALL, text: 'all' },
            ...suites.map((each) => ({ value: each, text: wordsOf(manifest, each).title })),
          ]}
        />
      )}
      {manifest.runs.length === 0 && (
        <p class="empty">
          There are no runs yet. <code>make bench</code> makes one.
        </p>
      )}
      {manifest.runs.length > 0 && <RunTable manifest={manifest} query={query} runs={runs} />}
      {manifest.all_runs > manifest.runs.length && (
        <p class="aside">
          The newest {manifest.runs.length} of {manifest.all_runs.toLocaleString('en-US')}; the others are in the
          trends.
        </p>
      )}
    </>
  );
}

function RunTable({ manifest, query, runs }: { manifest: Manifest; query: URLSearchParams; runs: RunRow[] }) {
  const columns = [
    { title: 'Run', key: 'run' },
    { title: 'Verdict', key: 'verdict' },
    { title: 'Commit', key: 'commit' },
    { title: 'Suite', key: 'suite' },
    { title: 'Environment', key: 'environment' },
    { title: 'Servers', key: 'servers', numeric: true },
    { title: 'Valid trials', key: 'valid', numeric: true },
  ];
  const rows = runs.map((run) => [
    { text: run.id, show: <RunLink id={run.id}>{formatTime(run.created)}</RunLink> },
    { text: run.outcome ?? 'not judged', show: <OutcomeMark outcome={run.outcome} /> },
    {
      text: `${(run.commit ?? '').slice(0, 7)} ${run.subject}`,
      kind: 'wide',
      show: (
        <>
          <CommitLink manifest={manifest} commit={run.commit} /> <Subject manifest={manifest} text={run.subject} />
          {run.dirty && <span class="muted"> with uncommitted changes</span>}
        </>
      ),
    },
    { text: `${wordsOf(manifest, run.suite).title}, ${run.profile}${run.comparison ? ', comparison' : ''}` },
    { text: run.environment },
    { text: String(run.servers), value: run.servers },
    { text: `${run.valid} of ${run.trials}`, value: run.valid },
  ]);
  return <Table name="runs" {...sortedBy(query, columns, rows)} />;
}
