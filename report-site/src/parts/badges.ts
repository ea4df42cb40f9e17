// The badges above a chart, at the points where something happened; they never overlap. Pure.

export type MarkKind = 'release' | 'environment' | 'harness' | 'versions';

export interface Mark {
  /** index of the point */
  index: number;
  kind: MarkKind;
  /** text on its badge */
  label: string;
  /** sentences */
  text: string;
}

export interface Badge {
  /** one, or several that are too close to each other */
  marks: Mark[];
  label: string;
  /** in the unit of `xs`, from their origin */
  left: number;
  width: number;
  /** for each mark, the position of its point, and whether a line leads from it down to the axis */
  lines: { mark: Mark; x: number; long: boolean }[];
}

/** Width of a letter relative to the height of its font: the average, and a little more. */
const LETTER = 0.6;
const PADDING = 1;
const GAP = 0.3;
/** The most points whose lines may be long; more long lines this close would obscure the chart. */
export const LONG_UP_TO = 3;

const SEVERAL: Record<MarkKind, string> = {
  release: 'releases',
  environment: 'environments',
  harness: 'harnesses',
  versions: 'versions',
};

/** The lines of the kinds differ, too: no information depends on colour alone. */
export const MARK_DASHES: Record<MarkKind, number[]> = {
  release: [6, 3],
  environment: [],
  harness: [1, 3],
  versions: [1, 3],
};

/**
 * `marks` are in the order of their points, `x` returns the position of a point on an axis of `width`, `font` is the
 * height of letters.
 */
export function badges(marks: Mark[], x: (index: number) => number, width: number, font: number): Badge[] {
  const badge = (of: Mark[]): Badge => {
    const label = labelOf(of);
    const wide = Math.min(width, (label.length * LETTER + PADDING) * font);
    const middle = (x(of[0]?.index ?? 0) + x(of.at(-1)?.index ?? 0)) / 2;
    const left = Math.min(width - wide, Math.max(0, middle - wide / 2));
    return { marks: of, label, left, width: wide, lines: lines(of, x) };
  };
  const placed: Badge[] = [];
  for (const mark of marks) {
    let next = badge([mark]);
    for (let last = placed.at(-1); last && next.left < last.left + last.width + GAP * font; last = placed.at(-1)) {
      next = badge([...last.marks, ...next.marks]);
      placed.pop();
    }
    placed.push(next);
  }
  return placed;
}

/** Lines of other environments take precedence in being long: nothing else moves numbers as much. */
function lines(marks: Mark[], x: (index: number) => number): Badge['lines'] {
  const few = (of: Mark[]) => new Set(of.map((mark) => mark.index)).size <= LONG_UP_TO;
  const all = few(marks);
  const some = few(marks.filter(isOfEnvironment));
  return marks.map((mark) => ({ mark, x: x(mark.index), long: isOfEnvironment(mark) ? some : all }));
}

function labelOf(marks: Mark[]): string {
  const [first] = marks;
  if (!first || marks.length === 1) return first?.label ?? '';
  if (marks.every((mark) => mark.kind === first.kind)) return `${marks.length} ${SEVERAL[first.kind]}`;
  const among = marks.filter(isOfEnvironment);
  if (!among.length) return `${marks.length} marks`;
  const others = marks.length - among.length;
  return `${labelOf(among)}, ${others} ${others === 1 ? 'other' : 'others'}`;
}

const isOfEnvironment = (mark: Mark) => mark.kind === 'environment';
