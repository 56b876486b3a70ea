import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { Run } from '../../../../services/platform/database/cross-tenant-database.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { reportLost } from '../../../../services/webhooks/lanes/lost-attempts.ts';
import { ReportBuffer } from '../../../../services/webhooks/lanes/report-buffer.ts';
import { newTenant } from '../../../support/harness.ts';
import { openSession } from '../../../support/sql.ts';
import { eventually, startLanesFixture } from './lanes-fixture.ts';

const webhooks = await startLanesFixture();
afterAll(() => webhooks[Symbol.asyncDispose]());

/** A merchant whose endpoint answers 503. */
async function failing(from = webhooks) {
  const tenant = newTenant(Environment.TEST);
  const { id, endpoint } = await from.subscribed(tenant);
  endpoint.answer(503);
  return { tenant, id, endpoint, statuses: () => from.statuses(tenant) };
}

/** A transaction that holds a subscription until it is rolled back. */
const lock = ({ id }: { readonly id: string }, from = webhooks) =>
  lockRows('webhooks.subscription where id = $1', id, from);

/** A transaction that holds rows until it is rolled back. */
async function lockRows(rows: string, id: string, from = webhooks) {
  const locking = await openSession(from.harness.databaseUrl);
  onTestFinished(() => locking.end());
  await locking.query('begin');
  await locking.query(`select from ${rows} for update`, [id]);
  return locking;
}

it('results wait while another transaction holds their subscription, without delaying others', async () => {
  const [held, other] = await Promise.all([failing(), failing()]);
  const locking = await lock(held);
  await webhooks.publish(held.tenant);
  await eventually(() => expect(held.endpoint.eventIds).toHaveLength(1));
  await webhooks.publish(other.tenant);
  await eventually(async () => expect(await other.statuses()).toEqual(['RETRYING']));
  expect(await held.statuses()).toEqual(['PENDING']);
  await locking.query('rollback');
  await eventually(async () => expect(await held.statuses()).toEqual(['RETRYING']));
});

it.each([
  [503, 'RETRYING'],
  [200, 'SUCCEEDED'],
] as const)(
  'results wait while another transaction holds their delivery, without delaying others: %i',
  async (status, recorded) => {
    const [held, other] = await Promise.all([failing(), failing()]);
    for (const { endpoint, tenant } of [held, other]) {
      endpoint.answer(200);
      await webhooks.publish(tenant);
      await eventually(async () => expect(await webhooks.statuses(tenant)).toEqual(['SUCCEEDED']));
      endpoint.answer(status);
    }
    const request = held.endpoint.hold();
    await webhooks.publish(held.tenant);
    await eventually(() => expect(request.count).toBe(1));
    const locking = await lockRows('webhooks.open_delivery where subscription_id = $1', held.id);
    request.release(status);
    await delay(200);
    await webhooks.publish(other.tenant);
    const both = ['SUCCEEDED', recorded].toSorted();
    await vi.waitFor(async () => expect((await other.statuses()).toSorted()).toEqual(both), {
      timeout: 5_000,
    });
    expect((await held.statuses()).toSorted()).toEqual(['PENDING', 'SUCCEEDED']);
    await locking.query('rollback');
    await eventually(async () => expect((await held.statuses()).toSorted()).toEqual(both));
  },
);

it('the next delivery of an object waits while another transaction holds it, without delaying others', async () => {
  const tenant = newTenant(Environment.TEST);
  const { id, endpoint } = await webhooks.subscribed(tenant, { ordered: true });
  const other = await failing();
  const first = endpoint.hold();
  await webhooks.publish(tenant, 'a');
  await webhooks.publish(tenant, 'a');
  await eventually(() => expect(first.count).toBe(1));
  const next = `webhooks.open_delivery where subscription_id = $1 and status = 'BLOCKED'`;
  const locking = await lockRows(next, id);
  first.release(200);
  await eventually(async () => expect(await webhooks.statuses(tenant)).toEqual(['SUCCEEDED', 'BLOCKED']));
  await webhooks.publish(other.tenant);
  const soon = { timeout: 5_000 };
  await vi.waitFor(async () => expect(await other.statuses()).toEqual(['RETRYING']), soon);
  await locking.query('rollback');
  await vi.waitFor(() => expect(first.count).toBe(1), soon);
});

it('results that wait for their subscription do not delay a hand-over of lanes', async () => {
  const stopping = await startLanesFixture();
  const held = await failing(stopping);
  const locking = await lock(held, stopping);
  await stopping.publish(held.tenant);
  await eventually(() => expect(held.endpoint.eventIds).toHaveLength(1));
  const stopped = stopping[Symbol.asyncDispose]();
  const owned = () => stopping.sql('select from webhooks.lane where owner_id is not null');
  await vi.waitFor(async () => expect(await owned()).toEqual([]), { timeout: 4_000, interval: 50 });
  await locking.query('rollback');
  await stopped;
});

it('lost attempts that wait for their subscription are reported once, and leave capacity for others', async () => {
  const id = uuidv7();
  const at = new Date();
  const lost = { id, number: 1, generation: 1n, started_at: at, deadline_at: at };
  const excluded: unknown[] = [];
  const run = (async (_, { exclude = [] } = {}) => {
    excluded.push(exclude);
    return (exclude as string[]).includes(id) ? [] : [lost];
  }) as Run;
  let isLocked = true;
  const recorder = {
    record: async () => ({ recorded: new Set<string>(), locked: new Set(isLocked ? [id] : []) }),
  };
  const reports = new ReportBuffer(recorder, createLogger('fatal'));
  for (let times = 0; times < 3; times += 1) await reportLost(run, [0], reports);
  expect(excluded).toEqual([[], [id], [id]]);
  isLocked = false;
  await vi.waitFor(() => expect(reports.unrecordedIds).toEqual([]));
  await reportLost(run, [0], reports);
  expect(excluded.at(-1)).toEqual([]);
  await reports.flush(1_000);
});
