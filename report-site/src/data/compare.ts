// Whether two numbers of different runs differ, as far as the noise between runs lets anybody know. Pure.

import type { Margin, Metric, Word } from './types';

/** Both runs scatter: their difference does so by the root of two times as much. */
const BOTH = Math.SQRT2;

/**
 * As `pushbench judge --history` decides: a change counts from the margin on, and is believed outside of the noise, which is
 * a half width of the band relative to its level.
 */
export function wordFor(
  a: number,
  b: number,
  metric: Metric,
  margin: Margin | undefined,
  noise: number | undefined,
): Word {
  if (!margin) return 'unknown';
  const change = Math.abs(b - a);
  if (change === 0 || change < Math.max(margin.margin * Math.abs(a), margin.floor)) return 'same';
  if (noise === undefined || change <= BOTH * noise * Math.abs(a)) return 'unknown';
  return b > a === (metric.better === 'lower') ? 'worse' : 'better';
}
