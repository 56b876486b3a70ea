import { VizLegendOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import { DashboardBuilder, DatasourceVariableBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import type * as units from '@grafana/grafana-foundation-sdk/units';

/** A unit that Grafana knows. Its builder accepts any string, and Grafana shows unknown units as plain text. */
export type Unit = Extract<(typeof units)[keyof typeof units], string>;

/** Half the width of a dashboard, which has 24 columns. */
const SIZE = { columns: 12, rows: 8 };

/**
 * A dashboard of these charts, two per row, for a Prometheus that the reader chooses. Uses the classic model, which
 * every supported Grafana can import and provision.
 */
export function dashboard(uid: string, title: string, description: string, charts: readonly PanelBuilder[]) {
  const builder = new DashboardBuilder(`Payments: ${title}`)
    .uid(uid)
    .description(description)
    .tags(['merchant-payments'])
    .readonly()
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .timezone('utc')
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'));
  for (const [index, chart] of charts.entries()) builder.withPanel(chart.id(index + 1));
  return builder.build();
}

/** Series over time, in PromQL by their legends. `{{label}}` in a legend stands for the label's value. */
export function chart(title: string, unit: Unit, series: Readonly<Record<string, string>>): PanelBuilder {
  const panel = new PanelBuilder()
    .title(title)
    .unit(unit)
    .span(SIZE.columns)
    .height(SIZE.rows)
    .axisSoftMin(0)
    .legend(new VizLegendOptionsBuilder().showLegend(true))
    .datasource({ type: 'prometheus', uid: '$datasource' });
  for (const [index, [legend, expr]] of Object.entries(series).entries()) {
    const refId = String.fromCharCode('A'.charCodeAt(0) + index);
    panel.withTarget(new DataqueryBuilder().refId(refId).expr(expr).legendFormat(legend));
  }
  return panel;
}

/** PromQL: a quantile of a histogram over five minutes, by labels. */
export function quantile(of: number, histogram: string, ...labels: readonly string[]): string {
  const by = [...labels, 'le'].join(', ');
  return `histogram_quantile(${of}, sum by (${by}) (rate(${histogram}_bucket[5m])))`;
}
