import { Gauge } from 'prom-client';
import { metrics } from './telemetry.ts';

type Labels = Readonly<Record<string, string>>;

/** Gauges that one measurement fills, all at a time. */
export interface MeasuredGauges<Measured> {
  /** Cheap, whatever the size of what is measured. */
  measure(): Promise<Measured>;
  /** A measurement serves every scrape that begins so soon after it. */
  readonly keptMs: number;
  readonly gauges: readonly MeasuredGauge<Measured>[];
}

interface MeasuredGauge<Measured> {
  readonly name: string;
  readonly help: string;
  /** Every set of labels that it ever has; without labels by default. */
  readonly labels?: readonly Labels[];
  read(measured: Measured, labels: Labels): number;
}

/** A scrape that waits any longer may be given up by Prometheus, with all other metrics of the process. */
const PATIENCE_MS = 2_000;

/**
 * Registers gauges that are measured when /metrics is read. What cannot be measured, or not within two seconds, is NaN,
 * and keeps the other metrics back no longer. Of several in one process the last one registered tells.
 */
export function registerMeasuredGauges<Measured>(options: MeasuredGauges<Measured>): void {
  const measured = memoized(options);
  for (const { name, help, labels = [{}], read } of options.gauges) {
    metrics.removeSingleMetric(name);
    new Gauge({
      ...{ name, help, registers: [metrics] },
      labelNames: Object.keys(labels[0] ?? {}),
      async collect() {
        const answer = await measured();
        for (const set of labels) this.set(set, answer === undefined ? Number.NaN : read(answer, set));
      },
    });
  }
}

/** The last measurement, or undefined. One that is under way is waited for, never begun a second time. */
function memoized<Measured>({ measure, keptMs }: MeasuredGauges<Measured>) {
  let begunAt = Number.NEGATIVE_INFINITY;
  let isUnderWay = false;
  let latest: Promise<Measured | undefined> = Promise.resolve(undefined);
  return () => {
    if (!isUnderWay && performance.now() - begunAt >= keptMs) {
      begunAt = performance.now();
      isUnderWay = true;
      latest = measure()
        .catch(() => undefined)
        .finally(() => {
          isUnderWay = false;
        });
    }
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, PATIENCE_MS, undefined);
    return Promise.race([latest, late]).finally(() => clearTimeout(timer));
  };
}
