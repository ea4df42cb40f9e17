// A chart as SVG, drawn from the same lines without a library: for papers and slides.

import { colour, type Marker, markerPath } from '../theme';
import { badges, MARK_DASHES } from './badges';
import { LIMIT_DASH, nearLimit, places, UPRIGHT_DASH } from './bounds';
import { axisFormat, type Line, named, type Plot } from './plot';

const WIDTH = 960;
const HEIGHT = 420;
const LEFT = 84;
const RIGHT = 16;
const TOP = 40;
const FONT = 12;
const BADGE = 18;
/** room between badges and the uppermost value */
const BELOW = 12;
const TICK = 8;
const TICKS = 5;
/** columns of the legend: if lines have names only, and if they have notes */
const [NAMES, NOTES] = [4, 2];
const MARKER = 3.4;
/** number of markers on a line */
const MARKERS = 12;

export function svg(title: string, plot: Plot): string {
  const shown = plot.lines.filter((line) => line.shown);
  const columns = shown.some((line) => line.note) ? NOTES : NAMES;
  const rows = Math.ceil(shown.length / columns);
  const top = TOP + (plot.marks?.length ? BADGE + BELOW : 0);
  const bottom = HEIGHT - 40;
  const height = HEIGHT + rows * 18;
  const values = shown.flatMap((line) =>
    line.values.filter((value) => value !== null && (!plot.log || value > 0)),
  ) as number[];
  const low = plot.log ? least(values) : Math.min(0, least(values));
  const high = Math.max(greatest(values), nearLimit(plot, greatest(values)) ?? 0);
  const [first, last] = plot.xRange ?? [plot.x[0] ?? 0, plot.x.at(-1) ?? 1];
  const x = scale(first, last, LEFT, WIDTH - RIGHT, plot.xLog ?? false);
  const y = scale(low, high, bottom, top, plot.log ?? false);
  const parts = [
    `<rect width="${WIDTH}" height="${height}" fill="${colour('paper')}"/>`,
    text(LEFT, 22, title, 'start', 15),
  ];
  parts.push(...axes(plot, x, y, bottom));
  parts.push(...bounds(plot, x, y, { top, bottom, high }));
  for (const badge of badges(plot.marks ?? [], (index) => x.of(plot.x[index] ?? 0), WIDTH, FONT)) {
    for (const { mark, x: at, long } of badge.lines) {
      const dash = long ? ` stroke-dasharray="${MARK_DASHES[mark.kind].join(' ')}"` : '';
      const end = long ? bottom : TOP + BADGE + TICK;
      parts.push(`<path d="M${at} ${TOP + BADGE}V${end}" stroke="${colour('muted')}"${dash}/>`);
    }
    const box = `x="${round(badge.left)}" y="${TOP}" width="${round(badge.width)}" height="${BADGE}"`;
    parts.push(`<rect ${box} fill="${colour('shade')}" stroke="${colour('muted')}"/>`);
    parts.push(text(round(badge.left + badge.width / 2), TOP + BADGE - 5, badge.label, 'middle', FONT));
  }
  shown.forEach((line, index) => {
    const stroke = colour(line.stroke.colour);
    const dash = line.stroke.dash.length ? ` stroke-dasharray="${line.stroke.dash.join(' ')}"` : '';
    const path = plot.x
      .map((at, point) => step(x.of(at), line.values[point], line.values[point - 1], y, plot.log))
      .join('');
    parts.push(`<path d="${path}" fill="none" stroke="${stroke}" stroke-width="1.5"${dash}/>`);
    if (line.stroke.marker) parts.push(`<path d="${markers(plot, line, x, y, line.stroke.marker)}" fill="${stroke}"/>`);
    const left = LEFT + (index % columns) * ((WIDTH - LEFT - RIGHT) / columns);
    const row = HEIGHT + Math.floor(index / columns) * 18;
    parts.push(`<path d="M${left} ${row - 4}h22" stroke="${stroke}" stroke-width="2"${dash}/>`);
    if (line.stroke.marker) {
      parts.push(`<path d="${markerPath(line.stroke.marker, left + 11, row - 4, MARKER)}" fill="${stroke}"/>`);
    }
    parts.push(text(left + 28, row, named(line), 'start', 12));
  });
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  const font = 'font-family="system-ui, sans-serif"';
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>${parts.join('')}</svg>\n`;
}

function axes(plot: Plot, x: Scale, y: Scale, bottom: number): string[] {
  const parts: string[] = [];
  const ticks = Array.from({ length: TICKS + 1 }, (_, tick) => y.at(tick / TICKS));
  const format = axisFormat(plot, ticks);
  for (let tick = 0; tick <= TICKS; tick++) {
    const atY = y.at(tick / TICKS);
    parts.push(`<path d="M${LEFT} ${y.of(atY)}H${WIDTH - RIGHT}" stroke="${colour('rule')}"/>`);
    parts.push(text(LEFT - 8, y.of(atY) + 4, format(atY), 'end', 12));
  }
  const steps = plot.xSteps ?? Array.from({ length: TICKS + 1 }, (_, tick) => x.at(tick / TICKS));
  steps.forEach((step, index) => {
    const anchor = index === 0 ? 'start' : index === steps.length - 1 ? 'end' : 'middle';
    parts.push(text(x.of(step), bottom + 20, plot.xFormat(step), anchor, 12));
  });
  return parts;
}

/** The limit, if it is near, and the named places of the x axis. */
function bounds(plot: Plot, x: Scale, y: Scale, at: { top: number; bottom: number; high: number }): string[] {
  const { limit, uprights = [] } = plot;
  const parts = places(uprights, x.of, 1).flatMap((each) => {
    const end = each.long ? at.bottom : at.top + each.down;
    const line = `<path d="M${each.at} ${at.top}V${end}" ${dashes(UPRIGHT_DASH, each.colour)}/>`;
    if ('label' in each) return [line, text(each.at + 4, at.bottom - 6, each.label, 'start', 12)];
    const marker = markerPath(each.marker, each.at, at.top + each.down, MARKER);
    return [line, `<path d="${marker}" fill="${colour(each.colour)}"/>`];
  });
  if (!limit || nearLimit(plot, at.high) === null) return parts;
  const line = `<path d="M${LEFT} ${y.of(limit.value)}H${WIDTH - RIGHT}" ${dashes(LIMIT_DASH, 'bad')}/>`;
  return [...parts, line, text(LEFT + 4, y.of(limit.value) - 5, limit.label, 'start', 12)];
}

function dashes(dash: number[], tone: string): string {
  return `fill="none" stroke="${colour(tone)}" stroke-width="1.5" stroke-dasharray="${dash.join(' ')}"`;
}

function markers(plot: Plot, line: Line, x: Scale, y: Scale, marker: Marker): string {
  const every = Math.ceil(plot.x.length / MARKERS);
  const drawn = line.values.map((value, index) => {
    if (value === null || index % every || (plot.log && value <= 0)) return '';
    return markerPath(marker, x.of(plot.x[index] ?? 0), y.of(value), MARKER);
  });
  return drawn.join('');
}

interface Scale {
  of: (value: number) => number;
  /** the value at a share of the way */
  at: (share: number) => number;
}

function scale(low: number, high: number, from: number, to: number, log: boolean): Scale {
  const [a, b] = log ? [Math.log(low), Math.log(high)] : [low, high];
  const width = b - a || 1;
  return {
    of: (value) => round(from + (((log ? Math.log(value) : value) - a) / width) * (to - from)),
    at: (share) => (log ? Math.exp(a + share * width) : a + share * width),
  };
}

function step(
  x: number,
  value: number | null | undefined,
  before: number | null | undefined,
  y: Scale,
  log = false,
): string {
  const drawn = (each: number | null | undefined) => each !== null && each !== undefined && (!log || each > 0);
  return drawn(value) ? `${drawn(before) ? 'L' : 'M'}${x} ${y.of(value as number)}` : '';
}

function text(x: number, y: number, content: string, anchor: string, size: number): string {
  const escaped = content.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  const place = `x="${x}" y="${y}" text-anchor="${anchor}"`;
  return `<text ${place} font-size="${size}" fill="${colour('ink')}">${escaped}</text>`;
}

const least = (values: number[]) => values.reduce((a, b) => Math.min(a, b), values[0] ?? 1);
const greatest = (values: number[]) => values.reduce((a, b) => Math.max(a, b), values[0] ?? 1);
const round = (value: number) => Math.round(value * 10) / 10;
