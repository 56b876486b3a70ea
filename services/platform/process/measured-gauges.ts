import { setTimeout as delay } from 'node:timers/promises';
import { Gauge } from 'prom-client';
import { ENVIRONMENTS, type EnvironmentName } from '../tenant.ts';
import { metrics } from './telemetry.ts';

type Labels = Readonly<Record<string, string>>;

/** Gauges that share one measurement. */
export interface MeasuredGauges<Measured> {
  /** Must be cheap regardless of the amount of data. */
  measure(): Promise<Measured>;
  /** How long a measurement is reused by later scrapes. Default: 1 s. */
  readonly cacheMs?: number;
  readonly gauges: readonly MeasuredGauge<Measured>[];
}

interface MeasuredGauge<Measured> {
  readonly name: string;
  readonly help: string;
  /** Every label set that the gauge reports; one without labels by default. */
  readonly labels?: readonly Labels[];
  read(measured: Measured, labels: Labels): number;
}

/** Prometheus may abort slower scrapes, losing all metrics of the process. */
const TIMEOUT_MS = 2_000;

/**
 * Registers gauges measured when /metrics is read. A measurement that fails or takes more than two seconds reports NaN
 * and does not delay the other metrics. Registering a name again replaces the gauge.
 */
export function registerMeasuredGauges<Measured>(options: MeasuredGauges<Measured>): void {
  const measured = memoized(options);
  for (const { name, help, labels = [{}], read } of options.gauges) {
    metrics.removeSingleMetric(name);
    new Gauge({
      name,
      help,
      registers: [metrics],
      labelNames: Object.keys(labels[0] ?? {}),
      async collect() {
        const answer = await measured();
        for (const set of labels) this.set(set, answer === undefined ? Number.NaN : read(answer, set));
      },
    });
  }
}

/** The row of a label set: the one whose columns have its values. */
export function rowOf<Row extends object>(rows: readonly Row[], labels: Labels): Row | undefined {
  return rows.find((row) =>
    Object.entries(labels).every(([name, value]) => row[name as keyof Row] === value),
  );
}

/**
 * A gauge with a value for each environment, measured as at most one row for each. Without a row, or with null, it is 0.
 */
export function environmentGauge<Row extends { readonly environment: EnvironmentName }>(
  name: string,
  help: string,
  readRow: (row: Row) => number | null,
): MeasuredGauge<readonly Row[]> {
  return {
    name,
    help,
    labels: ENVIRONMENTS.map((environment) => ({ environment })),
    read(rows, labels) {
      const row = rowOf(rows, labels);
      return (row && readRow(row)) ?? 0;
    },
  };
}

/** The measurement of a gauge in one environment. */
export interface EnvironmentValue {
  readonly environment: EnvironmentName;
  readonly value: number;
}

/** Registers a gauge with a value for each environment, with its own measurement. Without a row, the value is 0. */
export function registerEnvironmentGauge(
  name: string,
  help: string,
  measure: () => Promise<readonly EnvironmentValue[]>,
): void {
  const gauge = environmentGauge(name, help, ({ value }: EnvironmentValue) => value);
  registerMeasuredGauges({ measure, gauges: [gauge] });
}

/** Returns the latest measurement, or undefined if it failed. Never runs two measurements at once. */
function memoized<Measured>({ measure, cacheMs = 1_000 }: MeasuredGauges<Measured>) {
  let startedAt = Number.NEGATIVE_INFINITY;
  let isRunning = false;
  let latest: Promise<Measured | undefined> = Promise.resolve(undefined);
  return () => {
    if (!isRunning && performance.now() - startedAt >= cacheMs) {
      startedAt = performance.now();
      isRunning = true;
      latest = measure()
        .catch(() => undefined)
        .finally(() => {
          isRunning = false;
        });
    }
    return Promise.race([latest, delay(TIMEOUT_MS, undefined, { ref: false })]);
  };
}
