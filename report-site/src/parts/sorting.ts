// Sorts a table by the column that the address names: `sort=server`, or `sort=-server` for descending. Pure.

import { here } from '../route';
import type { Cell, Column } from './table';

export function sortedBy(query: URLSearchParams, columns: Column[], rows: Cell[][]) {
  const asked = query.get('sort') ?? '';
  const key = asked.replace(/^-/, '');
  const down = asked.startsWith('-');
  const at = columns.findIndex((column) => keyOf(column) === key);
  return {
    columns: columns.map((column, index) => ({
      ...column,
      sort: {
        href: here({ sort: asked === keyOf(column) ? `-${keyOf(column)}` : keyOf(column) }),
        now: index === at ? (down ? ('descending' as const) : ('ascending' as const)) : null,
      },
    })),
    rows: at < 0 ? rows : [...rows].sort((a, b) => compare(a[at], b[at], down)),
  };
}

function keyOf(column: Column): string {
  return column.key ?? column.title;
}

/** Missing cells come last in both directions. */
function compare(a: Cell | undefined, b: Cell | undefined, down: boolean): number {
  const [left, right] = [a, b].map((cell) => (cell?.value === undefined ? (cell?.text ?? null) : cell.value));
  if (left === right) return 0;
  if (left === null || left === undefined) return 1;
  if (right === null || right === undefined) return -1;
  return (left < right ? -1 : 1) * (down ? -1 : 1);
}
