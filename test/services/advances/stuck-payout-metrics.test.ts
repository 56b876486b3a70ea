import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { STUCK_AFTER_ATTEMPTS } from '../../../services/advances/advance-payout.ts';
import { newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import { readMetrics } from '../../support/scrape.ts';
import { payoutsOf } from './provider-queue.ts';

let harness: TestHarness;
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'funds,advances' });
});
afterAll(() => harness.close());

/** The values of the gauges of an environment. */
async function stuck(environment: 'live' | 'test') {
  const lines = (await readMetrics()).split('\n');
  const sample = (name: string) =>
    Number(lines.find((line) => line.startsWith(`${name}{environment="${environment}"}`))?.split(' ')[1]);
  return { payouts: sample('payments_payouts_stuck'), seconds: sample('payments_payouts_stuck_seconds') };
}

it('counts stuck payouts by environment, until they are accepted', async () => {
  const { payOut, refuse, accept } = payoutsOf(harness, newTenant(Environment.TEST));
  expect(await stuck('test')).toEqual({ payouts: 0, seconds: 0 });
  const id = await payOut(0);
  for (let n = 1; n < STUCK_AFTER_ATTEMPTS; n += 1) await refuse(id);
  await vi.waitFor(async () => expect((await stuck('test')).payouts).toBe(1), 40_000);
  // The payout was first submitted in 2020.
  expect((await stuck('test')).seconds).toBeGreaterThan(86_400 * 365);
  expect(await stuck('live')).toEqual({ payouts: 0, seconds: 0 });
  await accept(id);
  await vi.waitFor(async () => expect(await stuck('test')).toEqual({ payouts: 0, seconds: 0 }), 40_000);
});
