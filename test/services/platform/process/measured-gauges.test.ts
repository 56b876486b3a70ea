import { afterEach, expect, it } from 'vitest';
import { registerMeasuredGauges } from '../../../../services/platform/process/measured-gauges.ts';
import { metrics } from '../../../../services/platform/process/telemetry.ts';
import { scrape } from '../../../support/scrape.ts';

const registered = new Set<string>();
afterEach(() => {
  for (const name of registered) metrics.removeSingleMetric(name);
});

/** Registers a gauge `measured_<name>` of a measurement, which is reused for a minute. */
function register(name: string, measure: () => Promise<number>, cacheMs = 60_000): void {
  registered.add(`measured_${name}`);
  registerMeasuredGauges({
    measure,
    cacheMs,
    gauges: [{ name: `measured_${name}`, help: 'Of a test.', read: (measured) => measured }],
  });
}

it('a measurement is reused by scrapes soon after it, then repeated', async () => {
  let value = 0;
  register('kept', async () => ++value);
  register('fresh', async () => ++value, 0);
  expect((await scrape())('measured_kept')).toBe(1);
  const later = await scrape();
  expect([later('measured_kept'), later('measured_fresh')]).toEqual([1, 3]);
});

it('a measurement that fails or times out reports NaN, and the other metrics are unaffected', async () => {
  let begun = 0;
  const never = () => {
    begun += 1;
    return new Promise<number>(() => undefined);
  };
  register('failing', () => Promise.reject(new Error('no database')));
  register('hanging', never, 0);
  register('well', async () => 7);
  for (let scrapes = 0; scrapes < 2; scrapes += 1) {
    const scraped = await scrape();
    expect(scraped('measured_failing')).toBeNaN();
    expect(scraped('measured_hanging')).toBeNaN();
    expect(scraped('measured_well')).toBe(7);
  }
  // One hangs; more of them do not pile up.
  expect(begun).toBe(1);
});

it('one measurement reports all label sets', async () => {
  registered.add('measured_labelled');
  registerMeasuredGauges({
    measure: async () => ({ live: 3 }),
    cacheMs: 0,
    gauges: [
      {
        name: 'measured_labelled',
        help: 'Of a test.',
        labels: [{ environment: 'live' }, { environment: 'test' }],
        read: (measured: Record<string, number>, { environment }) => measured[environment!] ?? 0,
      },
    ],
  });
  const scraped = await scrape();
  expect(scraped('measured_labelled{environment="live"}')).toBe(3);
  expect(scraped('measured_labelled{environment="test"}')).toBe(0);
});
