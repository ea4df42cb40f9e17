// Whether two numbers of different runs differ, as far as the noise between runs permits an answer. Pure.

import type { Margin, Metric, Word } from './types';

/** Both runs scatter, so their difference scatters by the square root of two times as much. */
const BOTH = Math.SQRT2;

interface Setting {
  environment: string;
  suite: string;
  profile: string;
}

/** Whether both measured the same thing on the same machine. */
export function alike(a: Setting, b: Setting): boolean {
  return a.environment === b.environment && a.suite === b.suite && a.profile === b.profile;
}

/** The range of a relative change, given the scatter of runs; `noise` is as below. */
export function changeInterval(change: number, noise: number): [number, number] {
  return [change - BOTH * noise, change + BOTH * noise];
}

/**
 * As in `pushbench judge --history`, a difference counts from the margin on, and only outside the noise, which is a
 * half width of the band relative to its level. This function is stricter in one respect: two numbers are the same only
 * if the noise cannot carry them over the margin, because nobody looks at a third run here.
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
  const counts = Math.max(margin.margin * Math.abs(a), margin.floor);
  if (noise === undefined) return change === 0 ? 'same' : 'unknown';
  const scatter = BOTH * noise * Math.abs(a);
  if (change + scatter < counts || change + scatter === 0) return 'same';
  if (change < counts || change <= scatter) return 'unknown';
  return b > a === (metric.better === 'lower') ? 'worse' : 'better';
}
