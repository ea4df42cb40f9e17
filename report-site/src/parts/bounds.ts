// What bounds the lines of a chart: its height, the limit, named places of the x axis, whiskers around values.

import uPlot from 'uplot';
import { colour, type Marker, markerPath } from '../theme';
import { LONG_UP_TO } from './badges';
import type { Plot } from './plot';

/** A place on the x axis: an upright line with its name, or a marker at the upper edge that the legend explains. */
export type Upright = {
  x: number;
  /** name of a colour of the style sheet */
  colour: string;
} & ({ label: string } | { marker: Marker });

/** Multiples of the highest value up to which a limit is near. */
const [NEAR, NEAR_OF_LOGARITHM] = [4, 100];
const RANGE: uPlot.Range.Config = { min: { pad: 0.08, soft: 0, mode: 2 }, max: { pad: 0.08 } };
/** CSS pixels: height of a text, and half of a whisker's end */
const [TEXT, END] = [11, 3];
export const LIMIT_DASH = [2, 3];
export const UPRIGHT_DASH = [7, 3];
/** CSS pixels: half of a marker at the upper edge, and from the middle of one to the next */
const [EDGE_MARKER, EDGE_APART] = [3.4, 10];

/** Paints behind the lines, and after the grid. */
export function paintBounds(chart: uPlot, { limit, uprights = [] }: Plot): void {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `${TEXT * ratio}px system-ui, sans-serif`;
  ctx.lineWidth = 1.5 * ratio;
  const y = limit && chart.valToPos(limit.value, 'y', true);
  if (limit && y !== undefined && y >= bbox.top - ratio && y <= bbox.top + bbox.height) {
    dashed(ctx, LIMIT_DASH, colour('bad'), [bbox.left, y, bbox.left + bbox.width, y]);
    ctx.textAlign = 'left'; // where loads are small and curves low
    const below = y - bbox.top < 2 * TEXT * ratio; // there is no room above it
    ctx.fillText(limit.label, bbox.left + 4, below ? y + TEXT * 1.3 * ratio : y - 4);
  }
  for (const each of places(uprights, (x) => chart.valToPos(x, 'x', true), ratio)) {
    const end = each.long ? bbox.top + bbox.height : bbox.top + each.down;
    dashed(ctx, UPRIGHT_DASH, colour(each.colour), [each.at, bbox.top, each.at, end]);
    if ('marker' in each) {
      ctx.fill(new Path2D(markerPath(each.marker, each.at, bbox.top + each.down, EDGE_MARKER * ratio)));
    } else {
      const right = each.at + ctx.measureText(each.label).width + 8 > bbox.left + bbox.width;
      ctx.textAlign = right ? 'right' : 'left';
      ctx.fillText(each.label, each.at + (right ? -4 : 4), bbox.top + bbox.height - 0.7 * TEXT * ratio);
    }
  }
  ctx.restore();
}

/**
 * Where each upright stands, how far down its marker is, and whether its line reaches the axis, which it does if there
 * are few. Markers that would touch are stacked. `of` returns places in a unit of which a CSS pixel has `ratio`.
 */
export function places(uprights: Upright[], of: (x: number) => number, ratio: number) {
  const lasts: number[] = [];
  const long = uprights.length <= LONG_UP_TO;
  const ordered = uprights.map((each) => ({ ...each, at: of(each.x), long })).sort((a, b) => a.at - b.at);
  return ordered.map((each) => {
    const free = lasts.findIndex((last) => each.at - last >= EDGE_APART * ratio);
    const row = free < 0 ? lasts.length : free;
    lasts[row] = each.at;
    return { ...each, down: (row + 0.7) * EDGE_APART * ratio };
  });
}

function dashed(
  ctx: CanvasRenderingContext2D,
  dash: number[],
  tone: string,
  [x, y, toX, toY]: [number, number, number, number],
): void {
  ctx.setLineDash(dash.map((each) => each * devicePixelRatio));
  ctx.strokeStyle = tone;
  ctx.fillStyle = tone;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

export function paintWhiskers(chart: uPlot, x: number[], whiskers: ([number, number] | null)[], tone: string): void {
  const { ctx } = chart;
  const end = END * devicePixelRatio;
  ctx.strokeStyle = colour(tone);
  ctx.lineWidth = devicePixelRatio;
  whiskers.forEach((each, index) => {
    if (!each) return;
    const at = chart.valToPos(x[index] ?? 0, 'x', true);
    const [low, high] = each.map((value) => chart.valToPos(value, 'y', true)) as [number, number];
    ctx.beginPath();
    ctx.moveTo(at, low);
    ctx.lineTo(at, high);
    for (const y of [low, high]) {
      ctx.moveTo(at - end, y);
      ctx.lineTo(at + end, y);
    }
    ctx.stroke();
  });
}

/** The ends of the y axis: for zeros alone it goes to 1, which is 100 %, not to the library's 100. */
export function heights(plot: Plot, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null) return [null, null];
  const top = Math.max(high, nearLimit(plot, high) ?? high);
  if (plot.log) return uPlot.rangeLog(low, top, 10, false);
  return low === 0 && top === 0 ? [0, 1] : uPlot.rangeNum(low, top, RANGE);
}

/** The limit, unless it is so far away that it would squeeze the lines. */
export function nearLimit({ limit, log }: Plot, high: number): number | null {
  if (!limit || (log && limit.value <= 0)) return null;
  return limit.value <= high * (log ? NEAR_OF_LOGARITHM : NEAR) || high === 0 ? limit.value : null;
}
