import { type Html, html } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import type { Amounts } from './amounts.ts';
import { fundsTexts } from './funds.texts.ts';
import type { YearMonth } from './months.ts';

/** The amounts in a projection: what belongs to the merchant or was paid to them in advance. */
export const PROJECTED_KINDS = ['released', 'scheduled', 'blocked', 'advanced'] as const;

type ProjectedKind = (typeof PROJECTED_KINDS)[number];

/** A month with the totals of its releases, in centavos. */
export interface ProjectedMonth extends Amounts {
  readonly month: YearMonth;
}

/** The total of a month in the projection, in centavos. */
export function projectedTotal(month: Amounts): bigint {
  return PROJECTED_KINDS.reduce((sum, kind) => sum + month[kind], 0n);
}

/** Distinguishable without color: by lightness, and blocked amounts by stripes. */
const FILLS: Readonly<Record<ProjectedKind, string>> = {
  released: '#0a6640',
  scheduled: '#4f86c6',
  blocked: 'url(#stripes)',
  advanced: '#c3c9d1',
};

/** Lengths in units of the SVG view box. */
const WIDTH = 320;
const ROW_HEIGHT = 26;
const BAR_HEIGHT = 16;
const LABELS_WIDTH = 68;
const BARS_WIDTH = 170;
const TEXT_GAP = 6;

/** A stacked bar per month. Labels are abbreviated, as a table shows the same numbers. */
export function projectionChart(view: View, months: readonly ProjectedMonth[]): Html {
  const t = textsFor(view, fundsTexts);
  const largest = months.reduce((one, other) => (projectedTotal(other) > projectedTotal(one) ? other : one));
  const height = months.length * ROW_HEIGHT;
  const description = t.projection.description(
    view.format.month(largest.month),
    view.format.money(projectedTotal(largest)),
  );
  return html`<figure class="chart">
<figcaption>${legend(view)}</figcaption>
<svg role="img" aria-labelledby="chart-title chart-description" viewBox="0 0 ${WIDTH} ${height}">
<title id="chart-title">${t.projection.chart(String(months.length))}</title>
<desc id="chart-description">${description}</desc>
<defs><pattern id="stripes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="#fde7e7"/><rect width="3" height="6" fill="#a4161a"/></pattern></defs>
${months.map((month, row) => bar(view, month, row, projectedTotal(largest)))}
</svg>
</figure>`;
}

function bar(view: View, month: ProjectedMonth, row: number, maxMinor: bigint): Html {
  const t = textsFor(view, fundsTexts);
  const y = row * ROW_HEIGHT;
  const middle = y + ROW_HEIGHT / 2;
  let end = 0n;
  const pieces = PROJECTED_KINDS.filter((kind) => month[kind] > 0n).map((kind) => {
    const start = end;
    end += month[kind];
    const x = lengthOf(start, maxMinor);
    const title = `${view.format.month(month.month)} · ${t.kinds[kind]}: ${view.format.money(month[kind])}`;
    return html`<rect x="${(LABELS_WIDTH + x).toFixed(2)}" y="${y + (ROW_HEIGHT - BAR_HEIGHT) / 2}" width="${(lengthOf(end, maxMinor) - x).toFixed(2)}" height="${BAR_HEIGHT}" fill="${FILLS[kind]}"><title>${title}</title></rect>`;
  });
  const textX = (LABELS_WIDTH + lengthOf(end, maxMinor) + TEXT_GAP).toFixed(2);
  return html`<g><text x="${LABELS_WIDTH - TEXT_GAP}" y="${middle}" text-anchor="end" dominant-baseline="central">${view.format.shortMonth(month.month)}</text>
${pieces}
<text x="${textX}" y="${middle}" dominant-baseline="central">${view.format.compactMoney(end)}</text></g>`;
}

/** Scaled to BARS_WIDTH, rounded to hundredths; computed on bigints, as amounts may exceed a double. */
function lengthOf(amountMinor: bigint, maxMinor: bigint): number {
  return Number((amountMinor * BigInt(BARS_WIDTH) * 100n) / maxMinor) / 100;
}

function legend(view: View): Html {
  const t = textsFor(view, fundsTexts);
  return html`<ul class="legend" aria-label="${t.projection.legend}">${PROJECTED_KINDS.map(
    (kind) =>
      html`<li><svg aria-hidden="true" width="14" height="14" viewBox="0 0 14 14"><rect width="14" height="14" fill="${FILLS[kind]}"/></svg> ${t.kinds[kind]}</li>`,
  )}</ul>`;
}
