// The only module that uses uPlot: lines with bands and marks, zoom by dragging, a cursor for pointer and keyboard.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Level, Unit } from '../data/types';
import { colour, markerPath, type Stroke } from '../theme';
import { formatterOf } from '../units';
import { type Badge, badges, type Mark } from './badges';
import { heights, paintBounds, paintWhiskers, type Upright } from './bounds';
import { ABOVE, badgeFont, cross, paintBadge, paintBadgeLines, paintEnds, stripHeight, triangle } from './painting';

export interface Line {
  label: string;
  /** text beside the label in the legend */
  note?: string;
  values: (number | null)[];
  stroke: Stroke;
  shown: boolean;
  /** levels with their bands, drawn behind the line */
  levels?: Level[];
  /** indices at which the level changed, and whether to a higher one */
  changes?: { index: number; up: boolean }[];
  /** indices without a valid value, marked at the lower edge */
  invalid?: number[];
  /** the range in which a value is known to lie */
  whiskers?: ([number, number] | null)[];
}

export interface Span {
  from: number;
  to: number;
  label: string;
}

export interface Plot {
  x: number[];
  xFormat: (x: number) => string;
  yFormat: (y: number) => string;
  /** of the values, if all ticks of the axis share one unit */
  unit?: Unit;
  /** even steps on the x axis that may be ticked */
  xSteps?: number[];
  /** both ends of the x axis, if charts share it; otherwise those of the points */
  xRange?: [number, number];
  time?: boolean;
  log?: boolean;
  /** whether the x axis is logarithmic */
  xLog?: boolean;
  /** the worst allowed value, drawn if it is near */
  limit?: { value: number; label: string } | undefined;
  /** named places of the x axis */
  uprights?: Upright[];
  lines: Line[];
  /** shaded parts of the x axis, such as steady windows */
  spans?: Span[];
  /** what happened at points, in their order */
  marks?: Mark[];
  /** index of the point that is pinned */
  pinned?: number | null;
  height: number;
  /** whether lines are named where they end, if there is room */
  ends?: boolean;
  /** charts with the same word share one cursor */
  sync?: string;
}

export interface Listener {
  /** index of the point under the cursor; null when it left */
  onCursor: (index: number | null) => void;
  /** first and last index of what was dragged over */
  onZoom?: (from: number, to: number) => void;
  onPin?: (index: number) => void;
  /** where badges stand, from the left edge of the whole drawing */
  onBadges?: (placed: Badge[]) => void;
}

const POINTS_UP_TO = 120;
/** CSS pixels between the markers of a line, of few points and of many; and half of a marker */
const [CLOSE, FAR_APART, MARKER] = [24, 110, 3.4];
/** The most lines that are named at their ends, and CSS pixels for these names */
const [ENDS_UP_TO, ROOMY, WIDEST_END] = [6, 640, 190];
const SHORTEST_DRAG = 6;
const RIGHT = 12;
/** CSS pixels of a letter on an axis, on average */
const LETTER = 6.8;

export class Drawing {
  private readonly chart: uPlot;
  private readonly watch: ResizeObserver;
  private placed: Badge[] = [];

  constructor(
    private readonly box: HTMLElement,
    private readonly plot: Plot,
    private readonly listener: Listener,
  ) {
    const began = performance.now();
    this.chart = new uPlot(this.options(), this.data(), box);
    // Drawing is done by then: uPlot queues it as a microtask. The browser's profiler and the tests read this measure.
    queueMicrotask(() => performance.measure('draw', { start: began }));
    this.chart.ctx.canvas.setAttribute('aria-hidden', 'true');
    this.watch = new ResizeObserver(() => {
      if (box.clientWidth && box.clientWidth !== this.chart.width) {
        this.chart.setSize({ width: box.clientWidth, height: plot.height });
      }
    });
    this.watch.observe(box);
  }

  destroy(): void {
    this.watch.disconnect();
    this.chart.destroy();
  }

  /** Highlights one line; null for none. */
  focus(line: number | null): void {
    this.chart.setSeries(line === null ? null : line + 1, { focus: line !== null });
  }

  /** Puts the cursor on a point, as a pointer would. */
  moveTo(index: number): void {
    const x = this.plot.x[index];
    if (x === undefined) return;
    const at = { left: this.chart.valToPos(x, 'x'), top: this.chart.bbox.height / devicePixelRatio / 2 };
    // Charts that share the cursor follow; uPlot's types lack the parameter for that.
    (this.chart.setCursor as (at: object, tell: boolean, publish: boolean) => void)(at, true, true);
  }

  /** The picture on the page's background, with a title. */
  png(title: string, tell: (png: Blob) => void): void {
    const source = this.chart.ctx.canvas;
    const room = 34 * devicePixelRatio;
    const strip = this.placed.length ? stripHeight() : 0;
    const copy = document.createElement('canvas');
    copy.width = source.width;
    copy.height = source.height + 2 * room + strip;
    const ctx = copy.getContext('2d');
    if (!ctx) return;
    ctx.fillStyle = colour('paper');
    ctx.fillRect(0, 0, copy.width, copy.height);
    ctx.drawImage(source, 0, room + strip);
    ctx.fillStyle = colour('ink');
    ctx.font = `600 ${14 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.fillText(title, room / 3, room * 0.65, copy.width - room);
    let left = room / 3;
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    for (const line of this.plot.lines.filter((each) => each.shown)) {
      ctx.fillStyle = colour(line.stroke.colour);
      const [size, base] = [4 * devicePixelRatio, copy.height - room * 0.35];
      ctx.fill(new Path2D(markerPath(line.stroke.marker ?? 'circle', left + size, base - size, size)));
      ctx.fillText(named(line), left + 3 * size, base);
      left += ctx.measureText(`${named(line)}   `).width + 3 * size;
    }
    for (const badge of this.placed) paintBadge(ctx, badge, room, strip);
    copy.toBlob((blob) => blob && tell(blob), 'image/png');
  }

  private data(): uPlot.AlignedData {
    return [this.plot.x, ...this.plot.lines.map((line) => line.values)];
  }

  private options(): uPlot.Options {
    const { plot, box } = this;
    const few = plot.x.length <= POINTS_UP_TO;
    return {
      width: Math.max(box.clientWidth, 100),
      height: plot.height,
      legend: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), 'Etc/UTC'),
      focus: { alpha: 0.25 },
      padding: [ABOVE, Math.max(RIGHT, this.endsRoom(), plot.time ? 0 : this.lastLabel() / 2), 0, 0],
      scales: {
        x: {
          time: plot.time ?? false,
          ...(plot.xLog ? { distr: 3 } : {}),
          ...(plot.xRange ? { range: plot.xRange } : {}),
        },
        y: { ...(plot.log ? { distr: 3 } : {}), range: (_, low, high) => heights(plot, low, high) },
      },
      cursor: {
        y: false,
        drag: { x: this.listener.onZoom !== undefined, y: false, setScale: false },
        points: { size: 7, fill: (_, series) => colour(plot.lines[series - 1]?.stroke.colour ?? 'ink') },
        ...(plot.sync === undefined ? {} : { sync: { key: plot.sync } }),
      },
      axes: [
        {
          ...axisColours(),
          ...(plot.time ? {} : { values: (_, ticks) => ticks.map(plot.xFormat) }),
          ...(plot.xSteps ? { splits: () => plot.xSteps ?? [], filter: (_, steps) => steps } : {}),
          space: plot.xSteps ? 30 : 90,
        },
        {
          ...axisColours(),
          values: (_, ticks) => {
            const format = axisFormat(plot, ticks);
            return ticks.map((tick) => (tick === null ? '' : format(tick)));
          },
          size: (chart, texts) => {
            chart.ctx.font = '12px system-ui';
            return 18 + Math.max(24, ...(texts ?? []).map((text) => chart.ctx.measureText(text ?? '').width));
          },
        },
      ],
      series: [
        {},
        ...plot.lines.map((line) => ({
          label: line.label,
          show: line.shown,
          stroke: colour(line.stroke.colour),
          width: 1.6,
          dash: line.stroke.dash,
          points: { show: few && !line.stroke.marker, size: 5, fill: colour('paper') },
        })),
      ],
      hooks: {
        drawClear: [(chart) => this.drawBehind(chart)],
        drawAxes: [(chart) => this.drawPlaced(chart), (chart) => paintBounds(chart, plot)],
        draw: [(chart) => this.drawMarks(chart), (chart) => this.drawEnds(chart)],
        setCursor: [(chart) => this.listener.onCursor(chart.cursor.idx ?? null)],
        setSelect: [(chart) => this.selected(chart)],
        ready: [(chart) => this.listenForClicks(chart)],
      },
    };
  }

  /** CSS pixels for the names of lines at their ends; 0 for none. */
  private endsRoom(): number {
    const shown = this.plot.lines.filter((line) => line.shown);
    if (!this.plot.ends || shown.length > ENDS_UP_TO || this.box.clientWidth < ROOMY) return 0;
    return Math.min(WIDEST_END, Math.max(0, ...shown.map((line) => line.label.length * LETTER)) + RIGHT);
  }

  private drawEnds(chart: uPlot): void {
    const room = this.endsRoom() * devicePixelRatio;
    if (!room) return;
    const ends = this.plot.lines.flatMap((line) => {
      const last = line.shown ? line.values.findLast((value) => value !== null) : null;
      if (last === null || last === undefined || (this.plot.log && last <= 0)) return [];
      return [{ label: line.label, colour: line.stroke.colour, y: chart.valToPos(last, 'y', true) }];
    });
    const { left, top, width } = chart.bbox;
    paintEnds(chart.ctx, ends, left + width + 6 * devicePixelRatio, top, room - 6 * devicePixelRatio);
  }

  /** The width of the label below the right end, in CSS pixels. */
  private lastLabel(): number {
    return this.plot.xFormat(this.plot.x.at(-1) ?? 0).length * LETTER;
  }

  private selected(chart: uPlot): void {
    const { left, width } = chart.select;
    if (width < SHORTEST_DRAG) return;
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.listener.onZoom?.(chart.posToIdx(left), chart.posToIdx(left + width));
  }

  private listenForClicks(chart: uPlot): void {
    let down = 0;
    chart.over.addEventListener('pointerdown', (event) => {
      down = event.clientX;
    });
    chart.over.addEventListener('click', (event) => {
      const index = chart.cursor.idx;
      if (Math.abs(event.clientX - down) < SHORTEST_DRAG && index !== null && index !== undefined) {
        this.listener.onPin?.(index);
      }
    });
  }

  private drawBehind(chart: uPlot): void {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const span of this.plot.spans ?? []) {
      const left = chart.valToPos(span.from, 'x', true);
      ctx.fillStyle = colour('shade');
      ctx.fillRect(left, bbox.top, chart.valToPos(span.to, 'x', true) - left, bbox.height);
      ctx.fillStyle = colour('muted');
      ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textAlign = 'left';
      ctx.fillText(span.label, left + 4, bbox.top + 12 * devicePixelRatio);
    }
    for (const line of this.plot.lines) if (line.shown && line.levels) this.drawLevels(chart, line, line.levels);
    ctx.restore();
  }

  /** Draws before the lines, and after the grid, which would hide a mark that stands on it. */
  private drawPlaced(chart: uPlot): void {
    const { marks, x } = this.plot;
    if (!marks?.length) return;
    const edge = chart.bbox.left / devicePixelRatio;
    const at = (index: number) => edge + chart.valToPos(x[index] ?? 0, 'x');
    const placed = badges(marks, at, chart.width, badgeFont());
    const moved = placed.length !== this.placed.length || placed.some((each, n) => each.left !== this.placed[n]?.left);
    this.placed = placed;
    for (const badge of placed) paintBadgeLines(chart.ctx, chart.bbox, badge);
    if (moved) this.listener.onBadges?.(placed);
  }

  private drawLevels(chart: uPlot, line: Line, levels: Level[]): void {
    const { ctx } = chart;
    const { x } = this.plot;
    for (const [begin, end, low, level, high] of levels) {
      if (low === null || level === null || high === null) continue;
      const left = chart.valToPos(x[Math.max(0, begin)] ?? 0, 'x', true);
      const width = chart.valToPos(x[Math.min(end, x.length) - 1] ?? 0, 'x', true) - left;
      const y = (value: number) => chart.valToPos(this.plot.log ? Math.max(value, 1e-12) : value, 'y', true);
      ctx.fillStyle = colour(line.stroke.colour);
      ctx.globalAlpha = 0.13;
      ctx.fillRect(left, y(high), width, y(low) - y(high));
      ctx.globalAlpha = 0.7;
      ctx.fillRect(left, y(level), width, devicePixelRatio);
      ctx.globalAlpha = 1;
    }
  }

  /** Draws enough markers to identify a line, at other points than those of its neighbours. */
  private drawMarkers(chart: uPlot, { values, stroke, shown }: Line, index: number): void {
    if (!shown || !stroke.marker) return;
    const { ctx, bbox } = chart;
    const { x } = this.plot;
    const fit = bbox.width / devicePixelRatio / (x.length <= POINTS_UP_TO ? CLOSE : FAR_APART);
    const every = Math.max(1, Math.ceil(x.length / Math.max(1, fit)));
    const first = Math.floor((index * every) / 3) % every;
    ctx.fillStyle = colour(stroke.colour);
    ctx.globalAlpha = chart.series[index + 1]?.alpha ?? 1;
    values.forEach((value, at) => {
      if (value === null || (this.plot.log && value <= 0)) return;
      if (at % every !== first && !isAlone(values, at)) return;
      const left = chart.valToPos(x[at] ?? 0, 'x', true);
      const top = chart.valToPos(value, 'y', true);
      ctx.fill(new Path2D(markerPath(stroke.marker ?? 'circle', left, top, MARKER * devicePixelRatio)));
    });
    ctx.globalAlpha = 1;
  }

  private drawMarks(chart: uPlot): void {
    const { ctx, bbox } = chart;
    const { x, pinned, lines } = this.plot;
    const size = 5 * devicePixelRatio;
    ctx.save();
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const [index, line] of lines.entries()) this.drawMarkers(chart, line, index);
    for (const line of lines.filter((each) => each.shown)) {
      if (line.whiskers) paintWhiskers(chart, x, line.whiskers, line.stroke.colour);
      ctx.fillStyle = colour(line.stroke.colour);
      for (const { index, up } of line.changes ?? []) {
        const at = line.values[index];
        if (at === null || at === undefined) continue;
        triangle(ctx, chart.valToPos(x[index] ?? 0, 'x', true), chart.valToPos(at, 'y', true), up ? -size : size);
      }
      ctx.strokeStyle = colour(line.stroke.colour);
      ctx.lineWidth = 1.5 * devicePixelRatio;
      for (const index of line.invalid ?? []) {
        cross(ctx, chart.valToPos(x[index] ?? 0, 'x', true), bbox.top + bbox.height - size * 1.5, size * 0.7);
      }
    }
    const pin = pinned === null || pinned === undefined ? undefined : x[pinned];
    if (pin !== undefined) {
      ctx.fillStyle = colour('ink');
      ctx.fillRect(chart.valToPos(pin, 'x', true), bbox.top, devicePixelRatio, bbox.height);
    }
    ctx.restore();
  }
}

/** The text beside a line in the legend of a picture. */
export const named = ({ label, note }: Line): string => (note ? `${label}, ${note}` : label);

/** One unit for all ticks; on a logarithmic axis, which may reach from microseconds to seconds, each has its own. */
export function axisFormat(plot: Plot, ticks: (number | null)[]): (y: number) => string {
  return plot.unit && !plot.log ? formatterOf(ticks, plot.unit) : plot.yFormat;
}

/** Whether no line leads to a point. */
function isAlone(values: (number | null)[], at: number): boolean {
  return (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null;
}

function axisColours() {
  return {
    stroke: colour('muted'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: colour('rule'), width: 1 },
    ticks: { stroke: colour('rule'), width: 1 },
  };
}
