// One server against load, in its last run.

import { useLoaded } from '../data/load';
import { loadRun } from '../data/run';
import type { Manifest, Words } from '../data/types';
import { ServerCurves } from '../parts/load-curve';
import { RunLink, Shown } from '../parts/page';
import { href } from '../route';

interface Props {
  manifest: Manifest;
  words: Words;
  query: URLSearchParams;
  id: string;
  /** its last run */
  run: string;
}

export function ServerLoad({ manifest, words, query, id, run }: Props) {
  const loaded = useLoaded(run, () => loadRun(manifest, run));
  return (
    <>
      <h3>Against load</h3>
      <Shown loaded={loaded}>
        {(found) => {
          const server = found.servers.find((each) => each.server === id);
          if (!server) return <p class="empty">The last run has no stages of this server.</p>;
          return <ServerCurves manifest={manifest} words={words} query={query} run={found} server={server} />;
        }}
      </Shown>
      <p>
        <a href={href('compare', { run })}>Compare with others</a> in{' '}
        <RunLink id={run} server={id}>
          its last run
        </RunLink>
      </p>
    </>
  );
}
