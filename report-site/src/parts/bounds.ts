// What bounds the lines of a chart: its height, the limit, named places of the x axis, whiskers around values.

import uPlot from 'uplot';
import { colour } from '../theme';
import type { Plot } from './plot';

/** An upright line. */
export interface Upright {
  x: number;
  label: string;
  /** name of a colour of the style sheet */
  colour: string;
}

/** Multiples of the highest value up to which a limit is near. */
const [NEAR, NEAR_OF_LOGARITHM] = [4, 100];
const RANGE: uPlot.Range.Config = { min: { pad: 0.08, soft: 0, mode: 2 }, max: { pad: 0.08 } };
/** CSS pixels: of a text, and half of a whisker's end */
const [TEXT, END] = [11, 3];
export const LIMIT_DASH = [2, 3];
export const UPRIGHT_DASH = [7, 3];

/** Behind the lines, and after the grid. */
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
  uprights.forEach((each, index) => {
    const x = chart.valToPos(each.x, 'x', true);
    dashed(ctx, UPRIGHT_DASH, colour(each.colour), [x, bbox.top, x, bbox.top + bbox.height]);
    const right = x + ctx.measureText(each.label).width + 8 > bbox.left + bbox.width;
    ctx.textAlign = right ? 'right' : 'left';
    ctx.fillText(each.label, x + (right ? -4 : 4), bbox.top + bbox.height - (index * 1.3 + 0.7) * TEXT * ratio);
  });
  ctx.restore();
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

/** The ends of the y axis: of zeros alone it goes to 1, which is 100 %, and not to the library's 100. */
export function heights(plot: Plot, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null) return [null, null];
  const top = Math.max(high, nearLimit(plot, high) ?? high);
  if (plot.log) return uPlot.rangeLog(low, top, 10, false);
  return low === 0 && top === 0 ? [0, 1] : uPlot.rangeNum(low, top, RANGE);
}

/** The limit, where what is drawn is not lost far below it. */
export function nearLimit({ limit, log }: Plot, high: number): number | null {
  if (!limit || (log && limit.value <= 0)) return null;
  return limit.value <= high * (log ? NEAR_OF_LOGARITHM : NEAR) || high === 0 ? limit.value : null;
}
