// The theme: light, dark, or the system's; and the colours for drawing, which are those of the style sheet.

import type { Look } from './data/types';

export type Theme = 'light' | 'dark';

const KEY = 'pushbench theme';
const system = matchMedia('(prefers-color-scheme: dark)');

/** As it was when the page was opened, so that the back button undoes a choice. */
const remembered = recall();

/** The theme of the address, or the last choice, or that of the system. */
export function themeOf(query: URLSearchParams): Theme {
  const asked = [query.get('theme'), remembered].find((each) => each === 'dark' || each === 'light');
  return (asked as Theme | undefined) ?? (system.matches ? 'dark' : 'light');
}

/** Stores the theme; a browser may refuse that for a page from the disk or in a private window. */
export function remember(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {}
}

function recall(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function onSystemTheme(tell: () => void): () => void {
  system.addEventListener('change', tell);
  return () => system.removeEventListener('change', tell);
}

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** As many as in bench/pushbench/reporting/looks.py, which assigns them to servers. */
const COLOURS = 6;
const DASHES: number[][] = [[], [8, 4], [2, 3], [9, 3, 2, 3]];
const MARKERS = ['circle', 'square', 'triangle', 'diamond', 'cross', 'star'] as const;

export type Marker = (typeof MARKERS)[number];

export interface Stroke {
  /** name of a colour of the style sheet */
  colour: string;
  dash: number[];
  /** drawn on the line, if any */
  marker: Marker | null;
}

/** The stroke of a line that is no server, by its index in the chart. */
export function stroke(index: number): Stroke {
  return looked([index % COLOURS, Math.floor(index / COLOURS) % DASHES.length, -1]);
}

/** The stroke of a server: the same on every page. */
export function serverStroke(looks: Record<string, Look> | undefined, server: string): Stroke {
  return looked(looks?.[server] ?? byName(server));
}

function looked([colour, dash, marker]: Look): Stroke {
  return { colour: `line-${colour % COLOURS}`, dash: DASHES[dash] ?? [], marker: MARKERS[marker] ?? null };
}

/** The look derived from a name: older manifests contain no looks. */
function byName(server: string): Look {
  let sum = 7;
  for (const letter of server) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 0xffff;
  return [sum % COLOURS, sum % DASHES.length, sum % MARKERS.length];
}

/** The outline of a marker around a point, as SVG and Path2D take it. */
export function markerPath(marker: Marker, x: number, y: number, size: number): string {
  const [left, right, top, bottom] = [x - size, x + size, y - size, y + size];
  switch (marker) {
    case 'circle':
      return `M${left} ${y}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0Z`;
    case 'square':
      return `M${left} ${top}H${right}V${bottom}H${left}Z`;
    case 'triangle':
      return `M${x} ${top}L${right} ${bottom}H${left}Z`;
    case 'diamond':
      return `M${x} ${top - 1}L${right + 1} ${y}L${x} ${bottom + 1}L${left - 1} ${y}Z`;
    case 'cross':
      return `M${left} ${top}L${x} ${y}L${right} ${top}V${bottom}L${x} ${y}L${left} ${bottom}Z`;
    case 'star': {
      const inner = size / 3;
      const upright = `M${x} ${top - 1}L${x + inner} ${y}L${x} ${bottom + 1}L${x - inner} ${y}Z`;
      return `${upright}M${left - 1} ${y}L${x} ${y - inner}L${right + 1} ${y}L${x} ${y + inner}Z`;
    }
  }
}
