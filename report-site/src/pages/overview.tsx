// Which server is best, what changed, and whether the numbers can be trusted; then one row a server.

import { load, useLoaded } from '../data/load';
import { isWanted } from '../data/ranking';
import type { Combination, Manifest, Overview } from '../data/types';
import { wordsOf } from '../data/words';
import { CombinationPick, chosenCombination, NoSuch, RunLink, Shown } from '../parts/page';
import { Trust } from '../parts/trust';
import { href } from '../route';
import { formatDay, formatTime } from '../units';
import { Answers } from './overview-answers';
import { Changes } from './overview-changes';
import { Servers } from './overview-table';
import { RankingPart } from './ranking';

interface Props {
  manifest: Manifest;
  query: URLSearchParams;
}

export function OverviewPage({ manifest, query }: Props) {
  const chosen = chosenCombination(manifest, query);
  if (!manifest.combinations.length) return <NothingYet manifest={manifest} />;
  if (!chosen) return <NoSuch title="Which server is best" query={query} />;
  return <Chosen manifest={manifest} query={query} chosen={chosen} />;
}

function NothingYet({ manifest }: { manifest: Manifest }) {
  return (
    <>
      <h1>Nothing has been measured yet</h1>
      <p>
        <code>make bench</code> measures the servers of a checkout, and <code>./pushbench site</code> rebuilds this
        site.
        {manifest.all_runs > 0 && ' Some runs belong to no trend: see '}
        {manifest.all_runs > 0 && <a href={href('runs')}>all runs</a>}
      </p>
    </>
  );
}

function Chosen({ manifest, query, chosen }: Props & { chosen: Combination }) {
  const words = wordsOf(manifest, chosen.suite);
  const loaded = useLoaded(chosen.id, () => load<Overview>(`${chosen.id}/overview`, chosen.overview));
  return (
    <>
      <h1>{words.title}: which server is best</h1>
      <div class="controls">
        <CombinationPick manifest={manifest} chosen={chosen} />
      </div>
      <Shown loaded={loaded}>
        {(overview) => {
          const rows = overview.rows.filter((row) => isWanted(manifest, row.server, query));
          const all = query.get('all') === '1';
          return (
            <>
              <Answers {...{ manifest, query, overview, chosen, words, rows }} />
              <Trust manifest={manifest} overview={overview} chosen={chosen} />
              <div class="beside">
                <RankingPart {...{ manifest, query, overview, chosen, words, rows }} />
                <Changes manifest={manifest} words={words} overview={overview} chosen={chosen} all={all} />
              </div>
              <Servers manifest={manifest} overview={{ ...overview, rows }} chosen={chosen} query={query} />
              <About overview={overview} chosen={chosen} />
            </>
          );
        }}
      </Shown>
    </>
  );
}

function About({ overview, chosen }: { overview: Overview; chosen: Combination }) {
  const { newest, invalid } = overview;
  return (
    <>
      {invalid.map((each) => (
        <p key={each.run} class="aside">
          Invalid in <RunLink id={each.run}>{formatTime(each.created)}</RunLink>: {each.servers.join(', ')}. These
          trials did not measure the server.
        </p>
      ))}
      {newest.servers < overview.rows.length && (
        <p class="aside">
          The newest run measured {newest.servers} of {overview.rows.length} servers with the profile {chosen.profile}.
          A run without time for all of them begins with the servers that changed, then those that have waited longest.
          Each row shows the server's last run with this profile.
        </p>
      )}
      <p class="aside">
        {chosen.runs === 1
          ? 'The first run of its kind: levels and bands need five.'
          : `${chosen.runs.toLocaleString('en-US')} runs from ${formatDay(chosen.first)} to ${formatDay(chosen.last)}`}
      </p>
    </>
  );
}
