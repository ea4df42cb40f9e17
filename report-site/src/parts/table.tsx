// A real table, and the same rows as Markdown, CSV and JSON.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { asCsv, asJson, asMarkdown, copy, download, type Export, fileName, type Value } from '../exporting';

export interface Column {
  title: string;
  /** its name in an address, if that is not the title */
  key?: string;
  numeric?: boolean;
  /** a sentence of explanation */
  about?: string;
  /** the address of this page, sorted by this column */
  sort?: { href: string; now: 'ascending' | 'descending' | null };
}

export interface Cell {
  text: string;
  /** for programs, in base units; the text if there is none */
  value?: Value;
  /** shown instead of the text */
  show?: ComponentChildren;
  kind?: string;
}

interface Props {
  name: string;
  columns: Column[];
  rows: Cell[][];
  caption?: string;
  /** number of rows that are shown before the reader asks for the others */
  first?: number;
}

export function Table({ name, columns, rows, caption, first = 60 }: Props) {
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, first);
  return (
    <div class="table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: users without a pointer scroll it with the arrow keys */}
      <section class="scroll" tabIndex={0} aria-label={name}>
        <table>
          {caption && <caption>{caption}</caption>}
          <thead>
            <tr>
              {columns.map((column) => (
                <Title key={column.title} column={column} />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, number) => (
              <tr key={number}>
                {row.map((cell, index) => {
                  const kind = `${columns[index]?.numeric ? 'number ' : ''}${cell.kind ?? ''}`;
                  const Tag = index ? 'td' : 'th';
                  return (
                    <Tag key={columns[index]?.title} scope={index ? undefined : 'row'} class={kind}>
                      {cell.show ?? cell.text}
                    </Tag>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div class="actions">
        {rows.length > shown.length && (
          <button type="button" onClick={() => setAll(true)}>
            Show all {rows.length.toLocaleString('en-US')} rows
          </button>
        )}
        <Exports table={() => exported(name, columns, rows)} />
      </div>
    </div>
  );
}

function Title({ column }: { column: Column }) {
  return (
    <th
      scope="col"
      class={column.numeric ? 'number' : ''}
      title={column.about}
      aria-sort={column.sort?.now ?? undefined}
    >
      {column.sort ? (
        <a href={column.sort.href}>
          {column.title}
          {column.sort.now && <span aria-hidden="true">{column.sort.now === 'ascending' ? ' \u2191' : ' \u2193'}</span>}
        </a>
      ) : (
        column.title
      )}
    </th>
  );
}

function exported(name: string, columns: Column[], rows: Cell[][]): Export {
  return {
    name,
    columns: columns.map((column) => column.title),
    texts: rows.map((row) => row.map((cell) => cell.text)),
    values: rows.map((row) => row.map((cell) => (cell.value === undefined ? cell.text : cell.value))),
  };
}

const FORMATS = [
  { title: 'Markdown', suffix: 'md', type: 'text/markdown', write: asMarkdown },
  { title: 'CSV', suffix: 'csv', type: 'text/csv', write: asCsv },
  { title: 'JSON', suffix: 'json', type: 'application/json', write: asJson },
];

/** Each format is copied; if the browser refuses that, it is downloaded. */
function Exports({ table }: { table: () => Export }) {
  const [said, say] = useState('');
  const give = async (format: (typeof FORMATS)[number], wanted: 'copy' | 'file') => {
    const made = table();
    const text = format.write(made);
    if (wanted === 'copy' && (await copy(text))) return say(`${format.title} copied`);
    download(`${fileName(made.name)}.${format.suffix}`, text, format.type);
    say(`${format.title} saved`);
  };
  return (
    <details class="exports">
      <summary>Export</summary>
      <div>
        {FORMATS.map((format) => (
          <span key={format.title}>
            {format.title}{' '}
            <button type="button" onClick={() => give(format, 'copy')} aria-label={`Copy as ${format.title}`}>
              copy
            </button>{' '}
            <button type="button" onClick={() => give(format, 'file')} aria-label={`Save as ${format.title}`}>
              save
            </button>
          </span>
        ))}
      </div>
      <output>{said}</output>
    </details>
  );
}
