// Published comparisons beside what was measured here, and why they may differ.

import { alike } from '../data/compare';
import { useLoaded } from '../data/load';
import { PUBLICATIONS, type Publication } from '../data/publications';
import { ECHO_POINTS, PUBLISHED } from '../data/published';
import { loadRun } from '../data/run';
import type { Combination, Manifest, Run, StageNumbers } from '../data/types';
import { CombinationPick, chosenCombination, OutcomeMark, RunLink, Shown } from '../parts/page';
import { chosenStage, StageChoice } from '../parts/stages';
import { type Cell, Table } from '../parts/table';
import { href } from '../route';
import { formatQuantity, formatTime, NOT_MEASURED } from '../units';

interface Props {
  manifest: Manifest;
  query: URLSearchParams;
}

/** `id`: of a publication; the whiteboard's has none, since it came first. */
export function PublishedPage({ manifest, query, id }: Props & { id: string }) {
  const found = PUBLICATIONS.find((each) => each.id === id);
  return (
    <>
      <h1>Published comparisons</h1>
      <fieldset class="choice">
        <legend>Publication</legend>
        {[{ id: '', title: 'Electronic whiteboard' }, ...PUBLICATIONS].map((each) => (
          <a key={each.id} href={href('published', {}, each.id)} aria-current={each.id === id ? 'true' : undefined}>
            {each.title}
          </a>
        ))}
      </fieldset>
      {found ? (
        <Alone publication={found} />
      ) : id ? (
        <p class="empty">No publication is called {id} here.</p>
      ) : (
        <Whiteboard manifest={manifest} query={query} />
      )}
    </>
  );
}

/** Figures beside which nothing of this service stands. */
function Alone({ publication }: { publication: Publication }) {
  const { title, setting, columns, rows, minds } = publication;
  const numeric = columns.map((_, index) => rows.some((row) => typeof row[index] === 'object'));
  return (
    <>
      <h2>{title}</h2>
      <p>{setting}</p>
      <section class="panel" aria-labelledby="caveats">
        <h3 id="caveats">Read this first</h3>
        <ul>
          <li>
            <strong>Nothing here measures this yet</strong>, so these figures stand alone. They are what was printed.
          </li>
          {minds.map((mind) => (
            <li key={mind}>{mind}</li>
          ))}
        </ul>
      </section>
      <Table
        name={`published, ${title}`}
        columns={columns.map((column, index) => ({ title: column, numeric: numeric[index] ?? false }))}
        rows={rows.map((row) =>
          row.map((figure) =>
            typeof figure === 'string'
              ? { text: figure, value: figure === NOT_MEASURED ? null : figure, kind: 'wide' }
              : { text: formatQuantity(...figure), value: figure[0] },
          ),
        )}
      />
    </>
  );
}

function Whiteboard({ manifest, query }: Props) {
  const chosen = query.get('c')
    ? chosenCombination(manifest, query)
    : (manifest.combinations.find((each) => each.profile === 'full') ?? manifest.combinations[0]);
  return (
    <>
      <h2>Electronic whiteboard</h2>
      <p>
        A published comparison of servers for an electronic whiteboard (Kyung Hee University) has six servers that are
        here, too. These are its figures beside those of the newest run, under a load of the same kind: 100 to 1,000
        clients, each one message a second, sent to all members of its board.
      </p>
      <Caveats />
      {chosen && (
        <div class="controls">
          <CombinationPick manifest={manifest} chosen={chosen} />
        </div>
      )}
      {chosen ? (
        <Beside manifest={manifest} query={query} chosen={chosen} />
      ) : (
        <Figures manifest={manifest} run={null} stage={undefined} />
      )}
    </>
  );
}

function Caveats() {
  return (
    <section class="panel" aria-labelledby="caveats">
      <h3 id="caveats">Read this first</h3>
      <ul>
        <li>
          <strong>The generator.</strong> The publication drove its servers with k6's JavaScript clients on the same
          four virtual CPUs. Such a client costs 40 to 70 us of CPU a delivery: at 100,000 deliveries a second that is
          four to seven cores. Round trips of 100 to 250 ms, those of its three fastest servers, may be the generator's
          own. Here a trial whose generator was too busy or late is invalid and shown as such.
        </li>
        <li>
          <strong>Board and message sizes</strong> are not published. 30 MB/s leaving a server suggest boards on which
          everybody received everything; the stages <em>classroom</em> have boards of 100.
        </li>
        <li>
          <strong>Machines differ.</strong> Absolute numbers of different machines cannot be compared; the order of the
          servers, and where one breaks, can. 100 % of CPU is one core.
        </li>
        <li>
          <strong>Round trip</strong> is echo here: from the moment at which a message was due until its sender has it
          back. A generator that waits for a reply before it sends again omits the worst of them.
        </li>
      </ul>
    </section>
  );
}

function Beside({ manifest, query, chosen }: Props & { chosen: Combination }) {
  const newest = manifest.runs.find((run) => run.whole && !run.comparison && run.trials > 0 && alike(run, chosen));
  const loaded = useLoaded(`published ${newest?.id}`, async () => (newest ? loadRun(manifest, newest.id) : null));
  return (
    <Shown loaded={loaded}>
      {(run) => {
        const stages = run?.servers.find((server) => server.stages.length)?.stages ?? [];
        const stage = chosenStage(stages, query);
        return (
          <>
            {run ? (
              <p>
                Measured: <OutcomeMark outcome={run.run.outcome} />{' '}
                <RunLink id={run.run.id}>{formatTime(run.run.created)}</RunLink>
              </p>
            ) : (
              <p class="empty">No whole record of these is here, so the published figures stand alone.</p>
            )}
            {stage && stages.length > 1 && <StageChoice stages={stages} chosen={stage} />}
            <Figures manifest={manifest} run={run} stage={stage?.name} />
          </>
        );
      }}
    </Shown>
  );
}

function Figures({ manifest, run, stage }: { manifest: Manifest; run: Run | null; stage: string | undefined }) {
  const columns = [
    { title: 'Server' },
    { title: 'From' },
    { title: 'Loss' },
    ...ECHO_POINTS.map((point) => ({ title: `Echo ${point}`, numeric: true })),
    { title: 'CPU' },
    { title: 'Memory' },
    { title: 'Sent out' },
  ];
  const rows = PUBLISHED.flatMap((published): Cell[][] => {
    const server = run?.servers.find((each) => each.server === published.server);
    const found = server?.stages.find((each) => each.name === stage);
    const name = {
      text: published.server,
      show: (
        <a href={manifest.combinations.length ? href('trend', { s: published.server }) : href('')}>{published.title}</a>
      ),
    };
    return [
      [
        name,
        { text: 'published', kind: 'muted' },
        { text: published.loss, kind: 'narrow' },
        ...published.echo.map((seconds) => ({ text: formatQuantity(seconds, 'seconds'), value: seconds })),
        { text: published.cpu, kind: 'narrow' },
        { text: published.memory, kind: 'narrow' },
        { text: published.network },
      ],
      found && Object.keys(found.metrics).length
        ? [{ text: published.server, show: '' }, ownCell(server?.valid ?? 0, found), ...measured(found)]
        : [
            { text: published.server, show: '' },
            { text: 'not here', kind: 'muted' },
            ...columns.slice(2).map(() => ({ text: '-', value: null })),
          ],
    ];
  });
  return <Table name="published comparison" columns={columns} rows={rows} />;
}

function ownCell(valid: number, stage: StageNumbers): Cell {
  const believed = stage.believed !== false && valid > 0;
  return {
    text: believed ? 'measured here' : 'measured here, invalid',
    show: believed ? 'measured here' : <OutcomeMark outcome="invalid" />,
  };
}

function measured(stage: StageNumbers): Cell[] {
  const value = (metric: string) => stage.metrics[metric]?.[0] ?? null;
  const cores = value('cpu_cores');
  const out = value('network_out_bytes_per_second');
  return [
    { text: formatQuantity(value('loss_ratio'), 'ratio'), value: value('loss_ratio') },
    ...ECHO_POINTS.map((point) => ({
      text: formatQuantity(value(`echo_seconds.${point}`), 'seconds'),
      value: value(`echo_seconds.${point}`),
    })),
    { text: formatQuantity(cores, 'ratio'), value: cores },
    { text: formatQuantity(value('memory_bytes.peak'), 'bytes'), value: value('memory_bytes.peak') },
    { text: formatQuantity(out, 'bytes_per_second'), value: out },
  ];
}
