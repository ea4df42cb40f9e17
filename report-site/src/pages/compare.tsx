// Servers of one run side by side, or two runs.

import { alike } from '../data/compare';
import { useLoaded } from '../data/load';
import { loadRun } from '../data/run';
import type { Run } from '../data/run-types';
import type { Manifest, RunRow } from '../data/types';
import { Choice, chosenCombination, Pick, Shown, SuitePick } from '../parts/page';
import { formatTime } from '../units';
import { loadNoise, type Pair, RunsCompared } from './compare-runs';
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

function OneRun({ manifest, query }: Props) {
  const id = query.get('run') ?? newestRun(manifest, query);
  const loaded = useLoaded(`servers ${id}`, async () => (id ? loadRun(manifest, id) : null));
  if (!id) return <p class="empty">There is no run to show.</p>;
  const suite = suiteOf(manifest, id, loaded.state === 'ready' ? loaded.value : null);
  return (
    <>
      <div class="controls">
        <SuitePick manifest={manifest} suite={suite} />
        <RunPick manifest={manifest} suite={suite} label="Run" name="run" id={id} />
      </div>
      <Shown loaded={loaded}>{(run) => run && <ServersCompared manifest={manifest} query={query} run={run} />}</Shown>
    </>
  );
}

function TwoRuns({ manifest, query }: Props) {
  const [before, newest] = newestPair(manifest, query);
  const a = query.get('a') ?? before;
  const b = query.get('b') ?? newest;
  const loaded = useLoaded(`runs ${a} ${b}`, async () => (a && b ? loadPair(manifest, a, b) : null));
  if (!a || !b) return <p class="empty">There are fewer than two runs to compare.</p>;
  const suite = suiteOf(manifest, b, loaded.state === 'ready' ? (loaded.value?.b ?? null) : null);
  return (
    <>
      <div class="controls">
        <SuitePick manifest={manifest} suite={suite} />
        <RunPick manifest={manifest} suite={suite} label="Before (A)" name="a" id={a} />
        <RunPick manifest={manifest} suite={suite} label="After (B)" name="b" id={b} />
      </div>
      <Shown loaded={loaded}>{(pair) => pair && <RunsCompared manifest={manifest} query={query} {...pair} />}</Shown>
    </>
  );
}

async function loadPair(manifest: Manifest, idA: string, idB: string): Promise<Pair> {
  const [a, b] = await Promise.all([loadRun(manifest, idA), loadRun(manifest, idB)]);
  return { a, b, noise: await loadNoise(manifest, b).catch(() => null) };
}

interface RunPickProps {
  manifest: Manifest;
  suite: string;
  label: string;
  name: string;
  id: string;
}

function RunPick({ manifest, suite, label, name, id }: RunPickProps) {
  const listed = comparable(manifest).filter((run) => run.suite === suite);
  const options = listed.map((run) => ({
    value: run.id,
    text: `${formatTime(run.created)} ${run.profile} ${(run.commit ?? '').slice(0, 7)}`,
  }));
  if (!listed.some((run) => run.id === id)) options.push({ value: id, text: id });
  return <Pick label={label} name={name} value={id} options={options} />;
}

/** The suite of a run; a run that is too old to be listed names it in its own file. */
function suiteOf(manifest: Manifest, id: string, loaded: Run | null): string {
  return (loaded?.run ?? manifest.runs.find((run) => run.id === id))?.suite ?? manifest.combinations[0]?.suite ?? '';
}

/** The runs that can be compared, newest first. */
function comparable(manifest: Manifest): RunRow[] {
  return manifest.runs.filter((run) => !run.comparison && run.trials > 0);
}

function newestRun(manifest: Manifest, query: URLSearchParams): string | undefined {
  const chosen = chosenCombination(manifest, query);
  const listed = comparable(manifest);
  return ((chosen && listed.find((run) => alike(run, chosen))) ?? listed[0])?.id;
}

/** The newest run of the combination and the one before it, the older first; with one run only, of any that has two. */
function newestPair(manifest: Manifest, query: URLSearchParams): [string | undefined, string | undefined] {
  const chosen = chosenCombination(manifest, query);
  const listed = comparable(manifest);
  const pairs = listed.flatMap((after, index) => {
    const before = listed.slice(index + 1).find((run) => alike(run, after));
    return before ? [{ before, after }] : [];
  });
  const pair = (chosen && pairs.find(({ after }) => alike(after, chosen))) ?? pairs[0];
  return pair ? [pair.before.id, pair.after.id] : [listed[1]?.id, listed[0]?.id];
}
