// Formats values for readers, like bench/pushbench/metrics/units.py.

import type { Unit } from './data/types';

export const NOT_MEASURED = '-';
/** digits that a change of unit keeps right: 1.685 ms must not become 1.6849999999999998, which rounds to 1.68 */
const DIGITS = 12;

const BYTES: [string, number][] = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
  ['B', 1],
];

/** For each unit, the value from which it is used, and its length in seconds. */
const SECONDS: [[string, number, number], ...[string, number, number][]] = [
  ['s', 1, 1],
  ['ms', 1e-4, 1e-3],
  ['\u00b5s', 0, 1e-6],
];

/** Three significant digits, two below 1, thousands with commas. */
export function formatNumber(number: number): string {
  const value = Number(number.toPrecision(DIGITS));
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-US');
  if (size >= 1) return value.toFixed(size >= 9.995 ? 1 : 2);
  return value.toFixed(Math.min(20, 1 - Math.floor(Math.log10(size))));
}

export function formatQuantity(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOT_MEASURED;
  switch (unit) {
    case 'count':
    case 'cores':
      return formatNumber(value);
    case 'per_second':
      return `${formatNumber(value)} /s`;
    case 'ratio':
      return `${formatNumber(value * 100)} %`;
    case 'seconds':
      return formatSeconds(value);
    case 'bytes':
      return formatBytes(value);
    case 'bytes_per_second':
      return `${formatBytes(value)}/s`;
  }
}

/** A relative change: `+5.2 %`. */
export function formatChange(ratio: number | null): string {
  if (ratio === null || !Number.isFinite(ratio)) return NOT_MEASURED;
  return `${ratio > 0 ? '+' : ratio < 0 ? '-' : ''}${formatNumber(Math.abs(ratio) * 100)} %`;
}

/** Writes all of these values, such as those of one column or one axis, in one unit: that of the middle one. */
export function formatterOf(values: (number | null | undefined)[], unit: Unit): (value: number) => string {
  const sizes = values.flatMap((value) => (value ? [Math.abs(value)] : [])).sort((a, b) => a - b);
  const middle = sizes[Math.floor(sizes.length / 2)] ?? 0;
  const [suffix, factor] = scaleOf(middle, unit);
  if (!middle || !suffix) return (value) => formatQuantity(value, unit);
  return (value) => `${formatNumber(value / factor)} ${suffix}`;
}

function scaleOf(size: number, unit: Unit): [string, number] {
  if (unit === 'seconds') {
    const [suffix, , factor] = SECONDS.find(([, from]) => size >= from) ?? SECONDS[0];
    return [suffix, factor];
  }
  if (unit === 'bytes' || unit === 'bytes_per_second') {
    const [suffix, factor] = BYTES.find(([, each]) => size >= each) ?? ['B', 1];
    return [unit === 'bytes' ? suffix : `${suffix}/s`, factor];
  }
  return ['', 1];
}

function formatSeconds(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1)) return `${formatNumber(value * 1e3)} ms`;
  if (size < 1e-4) return `${formatNumber(value * 1e6)} \u00b5s`;
  if (size < 120) return `${formatNumber(value)} s`;
  return `${formatNumber(value / 60)} min`;
}

function formatBytes(value: number): string {
  const [suffix, factor] = BYTES.find(([, each]) => Math.abs(value) >= each) ?? ['B', 1];
  return `${formatNumber(value / factor)} ${suffix}`;
}

/** `2026-11-21 10:15`, UTC. */
export function formatTime(iso: string | number): string {
  const date = new Date(typeof iso === 'number' ? iso * 1000 : iso);
  return Number.isNaN(date.getTime()) ? String(iso) : date.toISOString().slice(0, 16).replace('T', ' ');
}

export function formatDay(iso: string | number): string {
  return formatTime(iso).slice(0, 10);
}
