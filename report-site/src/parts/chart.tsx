// A chart with all that belongs to it: heading, legend with the values under the cursor, keyboard, export, table.

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { download, fileName } from '../exporting';
import type { Badge } from './badges';
import { useTheme } from './page';
import { svg } from './picture';
import { Drawing, type Line, type Plot } from './plot';
import { Swatch } from './swatch';
import { type Cell, Table } from './table';

export interface ChartProps {
  title: string;
  plot: Plot;
  /** describes a point: `2026-11-21, run ..., commit ...` */
  describe: (index: number) => string;
  /** title of the first columns of the table, and their cells for a point */
  rows: { titles: string[]; cells: (index: number) => Cell[] };
  /** a change of it redraws the chart, like a change of the theme */
  version: string;
  onToggle?: (label: string) => void;
  onOnly?: (label: string) => void;
  onZoom?: (from: number, to: number) => void;
  onPin?: (index: number) => void;
  empty: string;
}

const FAR = 10;
const FEW = 3;

export function Chart(props: ChartProps) {
  const { title, plot } = props;
  const box = useRef<HTMLDivElement>(null);
  const pointing = usePointing(props);
  const { drawing, badges } = useDrawing(props, box, pointing);
  const { pointAtBadge, chooseBadge } = badgeActions(props, drawing, pointing);
  const id = useId();
  if (!hasValues(plot)) {
    return (
      <figure class="chart">
        <figcaption>{title}</figcaption>
        <p class="empty">{props.empty}</p>
      </figure>
    );
  }
  return (
    <figure class="chart">
      <figcaption id={`${id}-title`}>{title}</figcaption>
      {plot.marks && plot.marks.length > 0 && <Badges badges={badges} choose={chooseBadge} point={pointAtBadge} />}
      <div
        ref={box}
        class="canvas"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move its cursor
        tabIndex={0}
        role="img"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-keys`}
        onKeyDown={(event) => onKeyDown(event, props, drawing, pointing)}
      />
      <p id={`${id}-keys`} class="unseen">
        {HINT}
        {plot.marks?.length ? MARKS_HINT : ''}
      </p>
      <p class="aside readout" ref={pointing.readout} aria-hidden="true">
        {hint(plot)}
      </p>
      <p class="unseen" aria-live="polite" ref={pointing.spoken} />
      <Legend {...props} list={pointing.legend} focus={(line) => drawing.current?.focus(line)} />
      <div class="actions">
        <PictureButtons title={title} plot={plot} drawing={drawing} />
        <DataTable {...props} />
      </div>
    </figure>
  );
}

type Held<T> = { current: T | null };

/** The position of the cursor, and the elements that describe the point there. */
interface Pointing {
  /** the newest props: a drawing outlives the props that it was made with */
  latest: { current: ChartProps };
  /** the last position of the cursor: a drawing loses it when its size changes */
  at: Held<number>;
  legend: Held<HTMLUListElement>;
  readout: Held<HTMLParagraphElement>;
  spoken: Held<HTMLParagraphElement>;
  point: (index: number | null) => void;
}

function usePointing(props: ChartProps): Pointing {
  const legend = useRef<HTMLUListElement>(null);
  const readout = useRef<HTMLParagraphElement>(null);
  const spoken = useRef<HTMLParagraphElement>(null);
  const at = useRef<number | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const point = (index: number | null) => {
    at.current = index ?? at.current;
    if (readout.current) {
      readout.current.textContent = index === null ? hint(latest.current.plot) : said(latest.current, index, 'label');
    }
    const values = legend.current?.querySelectorAll('output') ?? [];
    latest.current.plot.lines.forEach((line, number) => {
      const text = index === null ? '' : valueText(latest.current.plot, line, index);
      const value = values[number];
      if (value && value.textContent !== text) value.textContent = text;
    });
  };
  return { latest, at, legend, readout, spoken, point };
}

/** Redraws when the version or the theme changes. */
function useDrawing({ plot, version, onZoom }: ChartProps, box: Held<HTMLDivElement>, pointing: Pointing) {
  const theme = useTheme();
  const drawing = useRef<Drawing | null>(null);
  const [badges, setBadges] = useState<Badge[]>([]);
  const { latest, at, point } = pointing;
  useEffect(() => {
    if (!box.current || !hasValues(plot)) return;
    const drawn = new Drawing(box.current, plot, {
      onCursor: point,
      ...(onZoom ? { onZoom: (from, to) => latest.current.onZoom?.(from, to) } : {}),
      onPin: (index) => latest.current.onPin?.(index),
      onBadges: setBadges,
    });
    drawing.current = drawn;
    at.current = null;
    return () => {
      drawn.destroy();
      drawing.current = null;
    };
  }, [version, theme]);
  return { drawing, badges };
}

function onKeyDown(event: KeyboardEvent, props: ChartProps, drawing: Held<Drawing>, { at, spoken, point }: Pointing) {
  const { plot, onPin } = props;
  const drawn = drawing.current;
  if (!drawn || event.altKey || event.ctrlKey || event.metaKey) return;
  const last = plot.x.length - 1;
  const now = at.current ?? last;
  const wanted = stepsFrom(plot, now, event.shiftKey)[event.key];
  if (wanted !== undefined) {
    const index = Math.min(last, Math.max(0, wanted));
    drawn.moveTo(index);
    point(index);
    if (spoken.current) spoken.current.textContent = spokenText(plot, said(props, index, 'text'), index);
  } else if (event.key === 'Enter' && onPin) onPin(now);
  else return;
  event.preventDefault();
}

/** The point that each key leads to. With Shift, the arrow keys lead to the next mark. */
function stepsFrom(plot: Plot, now: number, shift: boolean): Record<string, number> {
  const marked = shift ? (plot.marks ?? []).map((mark) => mark.index) : [];
  return {
    ArrowLeft: marked.findLast((index) => index < now) ?? now - 1,
    ArrowRight: marked.find((index) => index > now) ?? now + 1,
    PageDown: now - FAR,
    PageUp: now + FAR,
    Home: 0,
    End: plot.x.length - 1,
  };
}

function badgeActions({ plot, onPin, onZoom }: ChartProps, drawing: Held<Drawing>, { readout, point }: Pointing) {
  const pointAtBadge = (badge: Badge | null) => {
    const index = badge?.marks[0]?.index;
    if (index !== undefined) drawing.current?.moveTo(index);
    point(index ?? null);
    if (badge && readout.current) readout.current.textContent = textOf(badge);
  };
  /** Pins the point of a badge, or zooms in on its points if there are several. */
  const chooseBadge = ({ marks }: Badge) => {
    const [first, last] = [marks[0]?.index ?? 0, marks.at(-1)?.index ?? 0];
    if (first === last || !onZoom) return onPin?.(first);
    const around = Math.max(FAR, last - first);
    onZoom(Math.max(0, first - around), Math.min(plot.x.length - 1, last + around));
  };
  return { pointAtBadge, chooseBadge };
}

const HINT = 'Point at the chart, or focus it and use the arrow keys, Home and End.';
const MARKS_HINT = ' With Shift the arrow keys go from mark to mark.';

const hint = (plot: Plot) => (plot.sync ? '' : HINT);

/** The marks at a point, and its description. */
function said({ plot, describe }: ChartProps, index: number, word: 'label' | 'text'): string {
  const marks = plot.marks?.filter((mark) => mark.index === index).map((mark) => mark[word]) ?? [];
  return [...(marks.length ? [marks.join(', ')] : []), describe(index)].join(' | ');
}

interface BadgesProps {
  badges: Badge[];
  choose: (badge: Badge) => void;
  /** called with the badge under the pointer, or with null when the pointer leaves it */
  point: (badge: Badge | null) => void;
}

function Badges({ badges, choose, point }: BadgesProps) {
  return (
    <ul class="badges" aria-label="Marks">
      {badges.map((badge) => (
        <li key={badge.left} style={{ left: `${badge.left}px`, width: `${badge.width}px` }}>
          <button
            type="button"
            title={textOf(badge)}
            aria-label={`${badge.label}: ${textOf(badge)}`}
            onClick={() => choose(badge)}
            onMouseEnter={() => point(badge)}
            onMouseLeave={() => point(null)}
            onFocus={() => point(badge)}
            onBlur={() => point(null)}
          >
            {badge.label}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The texts of a few marks, or the labels of more. */
function textOf({ marks }: Badge): string {
  if (marks.length <= FEW) return marks.map((mark) => mark.text).join(' ');
  return marks.map((mark) => mark.label).join(', ');
}

interface LegendProps extends ChartProps {
  list: { current: HTMLUListElement | null };
  focus: (line: number | null) => void;
}

function Legend({ plot, onToggle, onOnly, list, focus }: LegendProps) {
  return (
    <ul class="legend" ref={list}>
      {plot.lines.map((line, index) => (
        <li key={line.label} onMouseEnter={() => line.shown && focus(index)} onMouseLeave={() => focus(null)}>
          {onToggle ? (
            <button
              type="button"
              aria-pressed={line.shown}
              onClick={() => onToggle(line.label)}
              title={line.shown ? 'Hide it' : 'Show it'}
            >
              <Name line={line} />
            </button>
          ) : (
            <span>
              <Name line={line} />
            </span>
          )}
          <output />
          {onOnly && (
            <button type="button" class="quiet" onClick={() => onOnly(line.label)} aria-label={`Only ${line.label}`}>
              only
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function Name({ line }: { line: Line }) {
  return (
    <>
      <Swatch stroke={line.stroke} />
      <span>
        {line.label} {line.note && <small>{line.note}</small>}
      </span>
    </>
  );
}

function PictureButtons({ title, plot, drawing }: { title: string; plot: Plot; drawing: { current: Drawing | null } }) {
  const name = fileName(title);
  return (
    <span class="pictures">
      <button
        type="button"
        onClick={() => drawing.current?.png(title, (png) => download(`${name}.png`, png, 'image/png'))}
      >
        Save PNG
      </button>
      <button type="button" onClick={() => download(`${name}.svg`, svg(title, plot), 'image/svg+xml')}>
        Save SVG
      </button>
    </span>
  );
}

function DataTable({ title, plot, rows }: ChartProps) {
  const [open, setOpen] = useState(false);
  const shown = plot.lines.filter((line) => line.shown);
  return (
    <details class="data" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The same as a table</summary>
      {open && (
        <Table
          name={title}
          columns={[
            ...rows.titles.map((each) => ({ title: each })),
            ...shown.map((line) => ({ title: line.label, numeric: true })),
          ]}
          rows={plot.x
            .map((_, index) => [
              ...rows.cells(index),
              ...shown.map((line) => ({ text: valueText(plot, line, index), value: line.values[index] ?? null })),
            ])
            .reverse()}
        />
      )}
    </details>
  );
}

function valueText(plot: Plot, line: Line, index: number): string {
  const value = line.values[index];
  if (value !== null && value !== undefined) return plot.yFormat(value);
  return line.invalid?.includes(index) ? 'invalid' : '-';
}

function spokenText(plot: Plot, about: string, index: number): string {
  const values = plot.lines.filter((line) => line.shown).map((line) => `${line.label} ${valueText(plot, line, index)}`);
  return `${about}: ${values.slice(0, FAR).join(', ')}`;
}

function hasValues(plot: Plot): boolean {
  return plot.lines.some((line) => line.values.some((value) => value !== null));
}
