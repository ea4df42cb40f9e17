// Servers of one run side by side, or two runs.

import { load, part, useLoaded } from '../data/load';
import type { Manifest, Run } from '../data/types';
import { Choice, chosenCombination, Pick, Shown } from '../parts/page';
import { formatTime } from '../units';
import { RunsCompared } from './compare-runs';
import { ServersCompared } from './compare-servers';

interface Props {
  manifest: Manifest;
  query: URLSearchParams;
}

export function ComparePage({ manifest, query }: Props) {
  const of = query.get('of') ?? 'servers';
  return (
    <>
      <h1>Compare</h1>
      <Choice
        label="Compare"
        name="of"
        value={of}
        options={[
          { value: 'servers', text: 'servers of a run' },
          { value: 'runs', text: 'two runs' },
        ]}
      />
      {of === 'runs' ? <TwoRuns manifest={manifest} query={query} /> : <OneRun manifest={manifest} query={query} />}
    </>
  );
}

export function loadRun(manifest: Manifest, id: string): Promise<Run> {
  return load<Run>(`runs/${part(id)}`, manifest.judged_by);
}

function OneRun({ manifest, query }: Props) {
  const id = query.get('run') ?? defaultRuns(manifest, query)[1];
  const loaded = useLoaded(`servers ${id}`, async () => (id ? loadRun(manifest, id) : null));
  if (!id) return <p class="empty">There is no run to show.</p>;
  return (
    <>
      <div class="controls">
        <RunPick manifest={manifest} label="Run" name="run" id={id} />
      </div>
      <Shown loaded={loaded}>{(run) => run && <ServersCompared manifest={manifest} query={query} run={run} />}</Shown>
    </>
  );
}

function TwoRuns({ manifest, query }: Props) {
  const [before, newest] = defaultRuns(manifest, query);
  const a = query.get('a') ?? before;
  const b = query.get('b') ?? newest;
  const loaded = useLoaded(`runs ${a} ${b}`, async () =>
    a && b ? Promise.all([loadRun(manifest, a), loadRun(manifest, b)]) : null,
  );
  if (!a || !b) return <p class="empty">Two runs are needed, and there are fewer.</p>;
  return (
    <>
      <div class="controls">
        <RunPick manifest={manifest} label="Before (A)" name="a" id={a} />
        <RunPick manifest={manifest} label="After (B)" name="b" id={b} />
      </div>
      <Shown loaded={loaded}>
        {(runs) => runs && <RunsCompared manifest={manifest} query={query} a={runs[0]} b={runs[1]} />}
      </Shown>
    </>
  );
}

function RunPick({ manifest, label, name, id }: { manifest: Manifest; label: string; name: string; id: string }) {
  const listed = manifest.runs.filter((run) => !run.comparison && run.trials > 0);
  const options = listed.map((run) => ({
    value: run.id,
    text: `${formatTime(run.created)} ${run.profile} ${(run.commit ?? '').slice(0, 7)}`,
  }));
  if (!listed.some((run) => run.id === id)) options.push({ value: id, text: id });
  return <Pick label={label} name={name} value={id} options={options} />;
}

/** The two newest runs of the combination, the older first. */
function defaultRuns(manifest: Manifest, query: URLSearchParams): [string | undefined, string | undefined] {
  const chosen = chosenCombination(manifest, query);
  const alike = manifest.runs.filter(
    (run) =>
      !run.comparison &&
      run.trials > 0 &&
      run.environment === chosen?.environment &&
      run.suite === chosen.suite &&
      run.profile === chosen.profile,
  );
  return [alike[1]?.id, alike[0]?.id];
}
