import type { DeliveryHour } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { link } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { card } from './card.ts';
import { chartFigure } from './chart-figure.ts';
import { overviewTexts } from './overview.texts.ts';

/** Lengths in units of the view box. */
const WIDTH = 320;
const HEIGHT = 140;
const LEGEND_Y = 11;
const AXIS_Y = 82;
const HOURS_Y = 136;
const DELIVERED_HEIGHT = 62;
const FAILED_HEIGHT = 38;
const COLUMN_GAP = 3;
/** The minimum height of a column that is not empty: one failure among many deliveries must be visible. */
const MIN_HEIGHT = 2;
const LABELED_EVERY = 6;
const DELIVERED_FILL = '#4f86c6';
const FAILED_FILL = '#c0392b';

/** How the attempts of the last 24 hours ended, by hour. */
export function deliveriesChartCard(view: View): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  return card(view, {
    name: 'delivery-hours',
    title: t.deliveriesByHour,
    call: view.clients.deliveries.getDeliveryStatistics({}),
    render: ({ hours }) =>
      hours.some(({ delivered, failed }) => delivered + failed > 0n)
        ? chart(view, hours)
        : html`<p>${t.noRecentDeliveries}</p>`,
    links: () => link(view, '/deliveries', t.toDeliveries),
  });
}

/** Successes rise above the axis and failures hang below it, so that they can be distinguished without color. */
function chart(view: View, hours: readonly DeliveryHour[]): Html {
  const t = textsFor(view, overviewTexts);
  const sum = (outcome: 'delivered' | 'failed') =>
    view.format.number(hours.reduce((total, hour) => total + hour[outcome], 0n));
  const [delivered, failed] = [sum('delivered'), sum('failed')];
  const labels = hours.map(({ startsAt }) => view.format.timeOfDay(startsAt!));
  const step = WIDTH / hours.length;
  const ticks = labels.map((label, index) =>
    index % LABELED_EVERY === 0
      ? html`<text x="${(index * step).toFixed(2)}" y="${HOURS_Y}">${label}</text>`
      : nothing,
  );
  return chartFigure(view, {
    name: 'delivery-chart',
    title: t.deliveriesByHour,
    text: t.chart.attempts(delivered, failed),
    height: HEIGHT,
    drawing: html`<path d="M0 11h8l-4-8z" fill="${DELIVERED_FILL}"/><text x="12" y="${LEGEND_Y}">${t.chart.delivered}: ${delivered}</text>
<path d="M312 3h8l-4 8z" fill="${FAILED_FILL}"/><text x="308" y="${LEGEND_Y}" text-anchor="end">${t.chart.failed}: ${failed}</text>
${columns(hours, step)}
<line x1="0" x2="${WIDTH}" y1="${AXIS_Y}" y2="${AXIS_Y}"/>
${ticks}`,
    heads: [t.chart.hour, t.chart.delivered, t.chart.failed],
    rows: hours.map((hour, index) => [
      labels[index]!,
      view.format.number(hour.delivered),
      view.format.number(hour.failed),
    ]),
  });
}

/** Both directions have one scale. */
function columns(hours: readonly DeliveryHour[], step: number): Html {
  const max = (outcome: 'delivered' | 'failed') => Math.max(...hours.map((hour) => Number(hour[outcome])));
  const perUnit = Math.max(max('delivered') / DELIVERED_HEIGHT, max('failed') / FAILED_HEIGHT);
  const column = (index: number, count: bigint, isFailed: boolean) => {
    if (count === 0n) return nothing;
    const height = Math.max(Number(count) / perUnit, MIN_HEIGHT);
    const y = isFailed ? AXIS_Y : AXIS_Y - height;
    return html`<rect x="${(index * step).toFixed(2)}" y="${y.toFixed(2)}" width="${(step - COLUMN_GAP).toFixed(2)}" height="${height.toFixed(2)}" fill="${isFailed ? FAILED_FILL : DELIVERED_FILL}"/>`;
  };
  return html`${hours.map(
    ({ delivered, failed }, index) => html`${column(index, delivered, false)}${column(index, failed, true)}`,
  )}`;
}
