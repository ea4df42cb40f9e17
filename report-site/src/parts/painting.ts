// What is painted on a chart besides its lines: badges and the lines below them, triangles, crosses.

import { colour } from '../theme';
import { type Badge, MARK_DASHES } from './badges';

/** CSS pixels between the top of the drawing and the plot. */
export const ABOVE = 10;
const TICK = 6;
/** size of badges, in the reader's font size */
const BADGE_FONT = 0.75;
const BADGE_HEIGHT = 1.5;

const rem = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

/** The font size of badges, in CSS pixels. */
export const badgeFont = () => rem() * BADGE_FONT;

/** The height of the strip of badges above a picture, in screen pixels. */
export const stripHeight = () => rem() * BADGE_HEIGHT * devicePixelRatio;

/** Paints lines behind the data, from the badge down; if there are many, only their beginnings. */
export function paintBadgeLines(
  ctx: CanvasRenderingContext2D,
  bbox: { top: number; height: number },
  { lines }: Badge,
): void {
  const top = bbox.top - ABOVE * devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour('muted');
  ctx.lineWidth = devicePixelRatio;
  for (const { mark, x, long } of lines) {
    const at = Math.round(x * devicePixelRatio) + 0.5;
    ctx.setLineDash(long ? MARK_DASHES[mark.kind].map((each) => each * devicePixelRatio) : []);
    ctx.beginPath();
    ctx.moveTo(at, top);
    ctx.lineTo(at, long ? bbox.top + bbox.height : top + TICK * devicePixelRatio);
    ctx.stroke();
  }
  ctx.restore();
}

export function paintBadge(
  ctx: CanvasRenderingContext2D,
  { label, left, width }: Badge,
  top: number,
  height: number,
): void {
  const at = Math.round(left * devicePixelRatio) + 0.5;
  const wide = Math.round(width * devicePixelRatio);
  ctx.fillStyle = colour('shade');
  ctx.strokeStyle = colour('muted');
  ctx.lineWidth = devicePixelRatio;
  ctx.fillRect(at, top + 0.5, wide, height - 1);
  ctx.strokeRect(at, top + 0.5, wide, height - 1);
  ctx.fillStyle = colour('ink');
  ctx.font = `${badgeFont() * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  ctx.fillText(label, at + wide / 2, top + height * 0.68, wide);
  ctx.textAlign = 'left';
}

/** Outlined in the paper's colour, so that it is visible on any line. */
export function triangle(ctx: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  ctx.beginPath();
  ctx.moveTo(x, y + size * 0.4);
  ctx.lineTo(x - size, y + size * 2.4 * -1);
  ctx.lineTo(x + size, y + size * 2.4 * -1);
  ctx.closePath();
  ctx.fill();
  ctx.strokeStyle = colour('paper');
  ctx.lineWidth = devicePixelRatio;
  ctx.stroke();
}

/** CSS pixels between two lines of text. */
const TEXT = 14;

export interface End {
  label: string;
  colour: string;
  /** position of the line's last point, in screen pixels */
  y: number;
}

/** Names lines at their ends, stacked if the ends are close together. */
export function paintEnds(ctx: CanvasRenderingContext2D, ends: End[], left: number, top: number, width: number): void {
  const high = TEXT * devicePixelRatio;
  ctx.save();
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  let free = top;
  for (const { label, colour: name, y } of [...ends].sort((a, b) => a.y - b.y)) {
    const at = Math.max(y, free);
    free = at + high;
    ctx.fillStyle = colour(name);
    ctx.fillText(label, left, at, width);
  }
  ctx.restore();
}

export function cross(ctx: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  ctx.beginPath();
  ctx.moveTo(x - size, y - size);
  ctx.lineTo(x + size, y + size);
  ctx.moveTo(x - size, y + size);
  ctx.lineTo(x + size, y - size);
  ctx.stroke();
}
