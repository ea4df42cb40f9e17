// Light, dark, or what the system has; and colours for drawing, which are those of the style sheet.

export type Theme = 'light' | 'dark';

const system = matchMedia('(prefers-color-scheme: dark)');

export function themeOf(query: URLSearchParams): Theme {
  const asked = query.get('theme');
  return asked === 'dark' || asked === 'light' ? asked : system.matches ? 'dark' : 'light';
}

export function onSystemTheme(tell: () => void): () => void {
  system.addEventListener('change', tell);
  return () => system.removeEventListener('change', tell);
}

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const COLOURS = 8;
/** More than eight lines differ by their dashes, too; nothing is told by colour alone. */
const DASHES: number[][] = [[], [7, 3], [2, 3]];

export interface Stroke {
  /** name of a colour of the style sheet */
  colour: string;
  dash: number[];
}

export function stroke(index: number): Stroke {
  return { colour: `line-${index % COLOURS}`, dash: DASHES[Math.floor(index / COLOURS) % DASHES.length] ?? [] };
}
