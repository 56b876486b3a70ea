import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import { fittingRows } from '../../support/list-walk.ts';
import { readMetrics } from '../../support/scrape.ts';
import { stuckPayoutList } from './stuck-payout-list.ts';

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
  const subject = stuckPayoutList(harness);
  const merchant = await subject.fixtureOf({ ...newTenant(), environment: Environment.TEST });
  expect(await stuck('test')).toEqual({ payouts: 0, seconds: 0 });
  await merchant.insert(0);
  await vi.waitFor(async () => expect((await stuck('test')).payouts).toBe(1), 40_000);
  // The list's rows were first submitted in 2020.
  expect((await stuck('test')).seconds).toBeGreaterThan(86_400 * 365);
  expect(await stuck('live')).toEqual({ payouts: 0, seconds: 0 });
  const [row] = await fittingRows(subject, merchant);
  await merchant.change(row!, 0);
  await vi.waitFor(async () => expect(await stuck('test')).toEqual({ payouts: 0, seconds: 0 }), 40_000);
});
