import { type Html, html } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { overviewTexts } from './overview.texts.ts';

interface ChartFigure {
  /** Unique on the page. */
  readonly name: string;
  readonly title: string;
  /** The text alternative of the drawing. */
  readonly text: string;
  /** The height of the view box, which is 320 wide. */
  readonly height: number;
  readonly drawing: Html;
  /** The headings of the table. */
  readonly heads: readonly string[];
  /** The cells below the headings: the label of the row, then its figures. */
  readonly rows: readonly (readonly string[])[];
}

/** A drawing with a text alternative, and its figures in a table that can be opened. */
export function chartFigure(view: View, chart: ChartFigure): Html {
  const { name, title, text, height, drawing, heads, rows } = chart;
  const t = textsFor(view, overviewTexts).chart;
  const [label, ...figures] = heads;
  return html`<figure class="chart">
<svg role="img" aria-labelledby="${name}-chart ${name}-text" viewBox="0 0 320 ${height}">
<title id="${name}-chart">${title}</title>
<desc id="${name}-text">${text}</desc>
${drawing}
</svg>
<details><summary>${t.table}</summary><table><caption>${title}</caption>
<thead><tr><th scope="col">${label ?? ''}</th>${figures.map((head) => html`<th scope="col" class="number">${head}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first, ...cells]) =>
      html`<tr><th scope="row">${first ?? ''}</th>${cells.map(
        (cell, column) => html`<td class="number" data-label="${figures[column] ?? ''}">${cell}</td>`,
      )}</tr>`,
  )}</tbody></table></details>
</figure>`;
}
