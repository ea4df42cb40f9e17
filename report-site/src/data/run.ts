// The file of one run. For a run without its full record, it names metrics once for all stages, because a site has
// thousands of such runs.

import { load, part } from './load';
import type { Run, RunServer, StageNumbers } from './run-types';
import type { Manifest } from './types';

interface Medians extends Omit<Run, 'servers'> {
  metrics: string[];
  servers: (Omit<RunServer, 'stages'> & { stages: { name: string; values: (number | null)[] }[] })[];
}

export async function loadRun(manifest: Manifest, id: string): Promise<Run> {
  const found = await load<Run | Medians>(`runs/${part(id)}`, manifest.judged_by);
  return 'metrics' in found ? ofMedians(found) : found;
}

function ofMedians({ metrics, servers, ...run }: Medians): Run {
  const stage = ({ name, values }: { name: string; values: (number | null)[] }) => {
    const known = metrics.flatMap((metric, index) => {
      const value = values[index] ?? null;
      return value === null ? [] : [[metric, [value]] as const];
    });
    return { name, metrics: Object.fromEntries(known) } as StageNumbers;
  };
  return { ...run, servers: servers.map((server) => ({ ...server, stages: server.stages.map(stage) })) };
}
