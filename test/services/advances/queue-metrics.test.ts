import { afterAll, expect, it, vi } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { STUCK_AFTER_ATTEMPTS } from '../../../services/advances/advance-payout.ts';
import { newTenant, newWrite, startHarness } from '../../support/harness.ts';
import { readMetrics, UNTIL_SCRAPED } from '../../support/scrape.ts';
import { sqlOf } from '../../support/sql.ts';
import { payoutsOf } from './provider-queue.ts';

const harness = await startHarness({ SERVICES: 'funds,advances' });
afterAll(() => harness.close());

/** Reads the gauges of an environment. */
async function samples(environment: 'live' | 'test') {
  const lines = (await readMetrics()).split('\n');
  return (name: string) =>
    Number(lines.find((line) => line.startsWith(`${name}{environment="${environment}"}`))?.split(' ')[1]);
}

async function stuck(environment: 'live' | 'test') {
  const sample = await samples(environment);
  return { payouts: sample('payments_payouts_stuck'), seconds: sample('payments_payouts_stuck_seconds') };
}

const unrecorded = async (environment: 'live' | 'test') =>
  (await samples(environment))('payments_payouts_unrecorded_seconds');

it('counts payouts that are stuck or returned by environment, until they are accepted', async () => {
  const { payOut, refuse, accept, giveBack } = payoutsOf(harness, newTenant(Environment.TEST));
  expect(await stuck('test')).toEqual({ payouts: 0, seconds: 0 });
  const id = await payOut(0);
  for (let n = 1; n < STUCK_AFTER_ATTEMPTS; n += 1) await refuse(id);
  await vi.waitFor(async () => expect((await stuck('test')).payouts).toBe(1), UNTIL_SCRAPED);
  // The payout was first submitted in 2020.
  expect((await stuck('test')).seconds).toBeGreaterThan(86_400 * 365);
  expect(await stuck('live')).toEqual({ payouts: 0, seconds: 0 });
  await accept(id);
  await vi.waitFor(
    async () => expect(await stuck('test')).toEqual({ payouts: 0, seconds: 0 }),
    UNTIL_SCRAPED,
  );
  const returned = await payOut(0);
  await accept(returned);
  await giveBack(returned);
  await vi.waitFor(async () => expect((await stuck('test')).payouts).toBe(1), UNTIL_SCRAPED);
  await accept(returned, 'po_2');
  await vi.waitFor(async () => expect((await stuck('test')).payouts).toBe(0), UNTIL_SCRAPED);
});

const waiting = async (environment: 'live' | 'test') =>
  (await samples(environment))('payments_advance_requests_waiting_seconds');

it('says how long the oldest request has waited for its review or, once approved, for its release', async () => {
  const { request, approve, client, tenant } = payoutsOf(harness, newTenant(Environment.TEST));
  const refuse = (advanceRequestId: string) =>
    client.refuseAdvance({ ...newWrite(tenant), advanceRequestId, reason: 'too much' });
  expect(await waiting('test')).toBe(0);
  const { id: requested } = (await request()).advanceRequest;
  const approved = await approve();
  const anHourAgo = `update advances.request set reviewed_at = now() - interval '1 hour' where id = $1`;
  await sqlOf(harness, anHourAgo, [approved]);
  // It was requested in 2020.
  await vi.waitFor(async () => expect(await waiting('test')).toBeGreaterThan(86_400 * 365), UNTIL_SCRAPED);
  expect(await waiting('live')).toBe(0);
  await refuse(requested);
  await vi.waitFor(async () => expect(await waiting('test')).toBeLessThan(7_200), UNTIL_SCRAPED);
  expect(await waiting('test')).toBeGreaterThanOrEqual(3_600);
  await refuse(approved);
  await vi.waitFor(async () => expect(await waiting('test')).toBe(0), UNTIL_SCRAPED);
});

it('says how long ago an advance was released of whose payout nothing is recorded, until something is', async () => {
  const { release, refuse, accept, client, tenant } = payoutsOf(harness, newTenant(Environment.TEST));
  expect(await unrecorded('test')).toBe(0);
  const [refused, accepted, settled] = [await release(), await release(), await release()];
  // They were released in 2020.
  await vi.waitFor(async () => expect(await unrecorded('test')).toBeGreaterThan(86_400 * 365), UNTIL_SCRAPED);
  expect(await unrecorded('live')).toBe(0);
  await refuse(refused);
  await accept(accepted);
  expect(await unrecorded('test')).toBeGreaterThan(0);
  await client.settleAdvance({ ...newWrite(tenant), advanceRequestId: settled });
  await vi.waitFor(async () => expect(await unrecorded('test')).toBe(0), UNTIL_SCRAPED);
});
