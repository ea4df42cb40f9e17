// What stands above a chart at the points where something happened: badges that never overlap. Pure.

export type MarkKind = 'release' | 'environment' | 'harness' | 'versions';

export interface Mark {
  /** of the point */
  index: number;
  kind: MarkKind;
  /** on its badge */
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
  /** of each mark where its point is, and whether that has a line down to the axis */
  lines: { mark: Mark; x: number; long: boolean }[];
}

/** Of a letter, in the height of its font: what they are wide on average, and a little more. */
const LETTER = 0.6;
const PADDING = 1;
const GAP = 0.3;
/** More lines so close to each other would be in the way. */
export const LONG_UP_TO = 3;

const SEVERAL: Record<MarkKind, string> = {
  release: 'releases',
  environment: 'environments',
  harness: 'harnesses',
  versions: 'versions',
};

/** Lines of the kinds differ, too: nothing is told by colour alone. */
export const MARK_DASHES: Record<MarkKind, number[]> = {
  release: [6, 3],
  environment: [],
  harness: [1, 3],
  versions: [1, 3],
};

/**
 * `marks` are in the order of their points, `x` says where one lies on an axis of `width`, `font` how high letters are.
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

/** Those of other environments are long before any others: nothing else moves numbers as much. */
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
