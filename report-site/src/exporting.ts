// Tables and charts as files and text for other programs.

export type Value = string | number | null;

export interface Export {
  name: string;
  columns: string[];
  /** as shown */
  texts: string[][];
  /** in base units */
  values: Value[][];
}

export function asMarkdown({ columns, texts }: Export): string {
  const line = (cells: string[]) => `| ${cells.map(inertMarkdown).join(' | ')} |`;
  return `${[line(columns), `|${columns.map(() => ' --- |').join('')}`, ...texts.map(line)].join('\n')}\n`;
}

export function asCsv({ columns, values }: Export): string {
  return [columns, ...values].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

export function asJson({ columns, values }: Export): string {
  const rows = values.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null])));
  return `${JSON.stringify(rows, null, 1)}\n`;
}

export function download(name: string, content: BlobPart, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Whether copying worked: browsers refuse it to pages that were opened in certain ways. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function fileName(text: string): string {
  return (
    text
      .replace(/[^A-Za-z0-9_.-]+/g, '-')
      .replace(/^[-.]+|-+$/g, '')
      .slice(0, 80) || 'pushbench'
  );
}

export function inertMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|#]/g, '\\$&').replace(/\s+/g, ' ');
}

function csvCell(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  // Spreadsheets take a cell that begins like this for a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
