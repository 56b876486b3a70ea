import { readdirSync, readFileSync } from 'node:fs';
import { LineInterpolation } from '@grafana/grafana-foundation-sdk/common';
import { Seconds } from '@grafana/grafana-foundation-sdk/units';
import { expect, test } from 'vitest';
import { chart } from '../../local/grafana/chart.ts';
import { dashboardFiles } from '../../local/grafana.ts';

const FOLDER = new URL('../../docs/operations/grafana/', import.meta.url);

test('docs/operations/grafana has the dashboards as they are built (npm run grafana writes them)', () => {
  expect(readdirSync(FOLDER).sort()).toEqual([...dashboardFiles.keys()]);
  for (const [name, text] of dashboardFiles) expect(readFileSync(new URL(name, FOLDER), 'utf8')).toBe(text);
});

test('a unit, an option or a value that Grafana does not know does not compile', () => {
  const panel = () => chart('Latency', Seconds, {});
  panel().lineInterpolation(LineInterpolation.Smooth);
  // @ts-expect-error: its unit for seconds is "s"
  chart('Latency', 'seconds', {});
  // @ts-expect-error: the option is called lineWidth
  expect(() => panel().linesWidth(2)).toThrow(TypeError);
  // @ts-expect-error: there is no such interpolation
  panel().lineInterpolation('curved');
  // @ts-expect-error: the place of a panel has four numbers
  panel().gridPos({ x: 0, y: 0, width: 12, h: 8 });
});
