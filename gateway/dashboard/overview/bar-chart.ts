import { type Html, html } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { chartFigure } from './chart-figure.ts';
import { overviewTexts } from './overview.texts.ts';

/** A bar: its label, its length in any unit that all bars share, and the figure as text. */
export interface Bar {
  readonly label: string;
  readonly size: bigint;
  readonly text: string;
}

interface BarChart {
  /** Unique on the page. */
  readonly name: string;
  readonly title: string;
  /** The headings of the table: what the bars are, and what their length is. */
  readonly heads: readonly [label: string, figure: string];
  /** At least one. */
  readonly bars: readonly Bar[];
}

/** Lengths in units of the view box. */
const ROW_HEIGHT = 22;
const BAR_HEIGHT = 12;
const LABELS_WIDTH = 146;
const BARS_WIDTH = 96;
const TEXT_GAP = 6;
const FILL = '#4f86c6';

/** A horizontal bar for each figure, and the same figures in a table that can be opened. */
export function barChart(view: View, { name, title, heads, bars }: BarChart): Html {
  const t = textsFor(view, overviewTexts).chart;
  const max = bars.reduce((one, { size }) => (size > one ? size : one), 1n);
  const largest = bars.reduce((one, other) => (other.size > one.size ? other : one));
  return chartFigure(view, {
    name,
    title,
    text: t.largest(largest.label, largest.text),
    height: bars.length * ROW_HEIGHT,
    drawing: html`${bars.map((bar, row) => rowOf(bar, row, max))}`,
    heads,
    rows: bars.map(({ label, text }) => [label, text]),
  });
}

function rowOf({ label, size, text }: Bar, row: number, max: bigint): Html {
  const y = row * ROW_HEIGHT;
  const middle = y + ROW_HEIGHT / 2;
  // On bigints: amounts may exceed a double.
  const width = Number((size * BigInt(BARS_WIDTH) * 100n) / max) / 100;
  const top = y + (ROW_HEIGHT - BAR_HEIGHT) / 2;
  return html`<g><text x="${LABELS_WIDTH - TEXT_GAP}" y="${middle}" text-anchor="end" dominant-baseline="central">${label}</text>
<rect x="${LABELS_WIDTH}" y="${top}" width="${width.toFixed(2)}" height="${BAR_HEIGHT}" fill="${FILL}"/>
<text x="${(LABELS_WIDTH + width + TEXT_GAP).toFixed(2)}" y="${middle}" dominant-baseline="central">${text}</text></g>`;
}
