// Published comparisons beside what was measured here, and why they may differ.

import { alike } from '../data/compare';
import { useLoaded } from '../data/load';
import {
  type Beside,
  combinationsBeside,
  type Figure,
  loadPublications,
  type Publication,
  type Source,
} from '../data/publications';
import { loadRun } from '../data/run';
import type { Run } from '../data/run-types';
import type { Combination, Manifest, Words } from '../data/types';
import { unitOf, wordsOf } from '../data/words';
import { Inline } from '../parts/inline';
import { CombinationPick, OutcomeMark, Outside, RunLink, Shown } from '../parts/page';
import { chosenStage, StageChoice, stageOf } from '../parts/stages';
import { type Cell, Table } from '../parts/table';
import { href } from '../route';
import { formatQuantity, formatTime, NOT_MEASURED } from '../units';

/** characters of a text that needs more than a narrow column */
const LONG = 50;

interface Props {
  manifest: Manifest;
  query: URLSearchParams;
}

/** `id` is that of a publication; an address without one shows the first. */
export function PublishedPage({ manifest, query, id }: Props & { id: string }) {
  const loaded = useLoaded('publications', loadPublications);
  return (
    <>
      <h1>Published comparisons</h1>
      <Shown loaded={loaded}>
        {(publications) => {
          const chosen = publications.find((each) => each.id === (id || publications[0]?.id));
          return (
            <>
              <fieldset class="choice">
                <legend>Publication</legend>
                {publications.map((each) => (
                  <a
                    key={each.id}
                    href={href('published', {}, each.id)}
                    aria-current={each === chosen ? 'true' : undefined}
                  >
                    {each.title}
                  </a>
                ))}
              </fieldset>
              {chosen ? (
                <Chosen key={chosen.id} manifest={manifest} query={query} publication={chosen} />
              ) : (
                <p class="empty">{id ? `There is no publication ${id} here.` : 'This checkout has none.'}</p>
              )}
            </>
          );
        }}
      </Shown>
    </>
  );
}

interface ChosenProps extends Props {
  publication: Publication;
}

function Chosen({ manifest, query, publication }: ChosenProps) {
  const { title, source, setting, minds } = publication;
  const combinations = combinationsBeside(manifest, publication);
  const chosen = combinations.find((each) => each.id === query.get('c')) ?? combinations[0];
  return (
    <>
      <h2>{title}</h2>
      {source && <SourceLine source={source} />}
      <p>{setting}</p>
      <section class="panel" aria-labelledby="caveats">
        <h3 id="caveats">Read this first</h3>
        <ul>
          {!chosen && (
            <li>
              <strong>Nothing here measures this yet</strong>, so the printed figures stand alone.
            </li>
          )}
          {minds.map((mind) => (
            <li key={mind}>
              <Inline text={mind} />
            </li>
          ))}
        </ul>
      </section>
      {chosen && publication.beside ? (
        <Measured
          manifest={manifest}
          query={query}
          publication={publication}
          beside={publication.beside}
          chosen={chosen}
        />
      ) : (
        <Alone publication={publication} />
      )}
    </>
  );
}

function SourceLine({ source: { author, title, year, address } }: { source: Source }) {
  const unknown = [...(title ? [] : ['title']), ...(year ? [] : ['year']), ...(address ? [] : ['address'])];
  return (
    <p class="source">
      Source: {author}
      {title && (
        <>
          , <cite>{title}</cite>
        </>
      )}
      {year && `, ${year}`}
      {address && (
        <>
          , <Outside to={address}>{readable(address)}</Outside>
        </>
      )}
      {unknown.length > 0 && `. Not known here: ${unknown.join(', ')}`}.
    </p>
  );
}

/** The address without the parts that a reader does not need. */
function readable(address: string): string {
  return address.replace(/^https:\/\//, '').replaceAll('%20', ' ');
}

/** Published figures without measured ones beside them. */
function Alone({ publication: { title, columns, rows } }: { publication: Publication }) {
  return (
    <Table
      name={`published, ${title}`}
      columns={columns.map((column, index) => ({ title: column, numeric: isNumeric(rows, index) }))}
      rows={rows.map((row) => row.map(figureCell))}
    />
  );
}

interface MeasuredProps extends ChosenProps {
  beside: Beside;
  chosen: Combination;
}

function Measured({ manifest, query, publication, beside, chosen }: MeasuredProps) {
  const newest = manifest.runs.find((run) => run.whole && !run.comparison && run.trials > 0 && alike(run, chosen));
  const loaded = useLoaded(`published ${newest?.id}`, async () => (newest ? loadRun(manifest, newest.id) : null));
  const asksForStage = beside.rows.some((row) => row && !row.stage);
  return (
    <>
      <div class="controls">
        <CombinationPick manifest={manifest} chosen={chosen} suites={false} />
      </div>
      <Shown loaded={loaded}>
        {(run) => {
          if (!run) {
            return (
              <>
                <p class="empty">There is no full record here, so the published figures stand alone.</p>
                <Alone publication={publication} />
              </>
            );
          }
          const stages = run.servers.find((server) => server.stages.length)?.stages ?? [];
          const stage = chosenStage(stages, query);
          const words = wordsOf(manifest, run.run.suite);
          return (
            <>
              <p>
                Measured: <OutcomeMark outcome={run.run.outcome} />{' '}
                <RunLink id={run.run.id}>{formatTime(run.run.created)}</RunLink>
              </p>
              {asksForStage && stage && stages.length > 1 && <StageChoice stages={stages} chosen={stage} />}
              <Figures
                chosen={chosen}
                words={words}
                publication={publication}
                beside={beside}
                run={run}
                stage={stage?.name ?? ''}
              />
            </>
          );
        }}
      </Shown>
    </>
  );
}

interface FiguresProps {
  chosen: Combination;
  words: Words;
  publication: Publication;
  beside: Beside;
  run: Run;
  stage: string;
}

/** The printed rows, each with what was measured here of the same kind below it. */
function Figures({ chosen, words, publication, beside, run, stage }: FiguresProps) {
  const { title, rows } = publication;
  const [first = '', ...columns] = publication.columns;
  return (
    <Table
      name={`published, ${title}`}
      columns={[
        { title: first },
        { title: 'From' },
        ...columns.map((column, index) => ({ title: column, numeric: isNumeric(rows, index + 1) })),
      ]}
      rows={rows.flatMap(([name = '', ...figures], index): Cell[][] => {
        const row = beside.rows[index];
        const printed = [
          nameCell(name, chosen.id, row?.server),
          { text: 'published', kind: 'muted' },
          ...figures.map(figureCell),
        ];
        return [printed, ownCells(words, beside, run, index, row?.stage ?? stage)];
      })}
    />
  );
}

function nameCell(name: Figure, c: string, server: string | undefined): Cell {
  const cell = figureCell(name);
  return server ? { ...cell, show: <a href={href('trend', { c, s: server })}>{cell.text}</a> } : cell;
}

function ownCells(words: Words, beside: Beside, run: Run, index: number, stage: string): Cell[] {
  const server = beside.rows[index]?.server ?? '';
  const found = stageOf(run, server, stage);
  const name = { text: server, show: '' };
  const columns = beside.columns.slice(1);
  if (!found || !Object.keys(found.metrics).length) {
    return [
      name,
      { text: whyNot(run, server, stage), kind: 'muted' },
      ...columns.map(() => ({ text: NOT_MEASURED, value: null })),
    ];
  }
  const valid = run.servers.find((each) => each.server === server)?.valid ?? 0;
  const believed = found.believed !== false && valid > 0;
  return [
    name,
    {
      text: believed ? 'measured here' : 'measured here, invalid',
      show: believed ? 'measured here' : <OutcomeMark outcome="invalid" />,
    },
    ...columns.map((column) => {
      const value = column ? (found.metrics[column.metric]?.[0] ?? null) : null;
      return { text: column ? formatQuantity(value, column.unit ?? unitOf(words, column.metric)) : '', value };
    }),
  ];
}

/** Why a run has no figures of a server for a stage. */
function whyNot({ run, servers }: Run, server: string, stage: string): string {
  const played = servers.some((each) => each.stages.some(({ name }) => name === stage));
  if (!played) {
    return `${run.profile} has no stage ${stage}`;
  }
  return servers.some((each) => each.server === server) ? 'not measured' : 'not in this run';
}

function figureCell(figure: Figure): Cell {
  return typeof figure === 'string'
    ? { text: figure, value: figure === NOT_MEASURED ? null : figure, kind: figure.length > LONG ? 'wide' : 'narrow' }
    : { text: formatQuantity(...figure), value: figure[0] };
}

function isNumeric(rows: Figure[][], column: number): boolean {
  return rows.some((row) => typeof row[column] === 'object');
}
