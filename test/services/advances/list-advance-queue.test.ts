import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  AdvanceAction as Action,
  AdvanceService,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { startOfDay } from '../../../services/platform/civil-date.ts';
import { rpcDuration } from '../../../services/platform/process/telemetry.ts';
import { timestampOf } from '../../../services/platform/timestamps.ts';
import { newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import { LIST_SETTINGS } from '../../support/list-suite.ts';
import { describeQueue } from '../../support/queue-suite.ts';
import { lockWaits, openSession, sqlOf } from '../../support/sql.ts';
import { fundsCaller } from '../funds/funds-caller.ts';
import { advanceQueue, copyRequest } from './advance-queue.ts';

const SOLD = '2020-06-20';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  // Without the reads in funds of what merchants owe.
  harness = await startHarness({ ...LIST_SETTINGS, SERVICES: 'funds,advances' }, (sql) => {
    if (sql.includes('"advances"."request"')) statements.push(sql);
  });
});
afterAll(() => harness.close());

describeQueue('ListAdvanceQueue', () => advanceQueue(harness), statements, [
  ['', 'request_queue'],
  ['status', 'request_queue'],
]);

it('says what the merchant owes, and which disputes of the covered sales cannot hold what is reserved', async () => {
  const tenant = newTenant();
  const client = createClient(AdvanceService, harness.transports.grpc);
  const { sell, write, deduct, block } = fundsCaller(harness.transports.grpc, tenant);
  const { saleId } = await sell({ on: SOLD, gross: 100n });
  const { quote } = await client.quoteAdvance(write(SOLD));
  const { advanceRequest } = await client.requestAdvance({ ...write(SOLD), quoteId: quote!.id });
  const exposure = async () => (await client.listAdvanceQueue(tenant)).items[0]!.exposure;
  const none = { availableAmountMinor: 0n, openDebtsAmountMinor: 0n, disputeIds: [] };
  expect(await exposure()).toMatchObject(none);
  const disputeId = randomUUID();
  await block(saleId, disputeId, undefined, SOLD);
  await block((await sell({ on: SOLD, gross: 30n })).saleId, randomUUID(), undefined, SOLD);
  await deduct(70n, undefined, SOLD);
  await sell({ on: SOLD, gross: 20n, instant: true });
  const owing = { availableAmountMinor: -50n, openDebtsAmountMinor: 70n, disputeIds: [disputeId] };
  expect(await exposure()).toMatchObject(owing);
  await client.approveAdvance({ ...write(SOLD), advanceRequestId: advanceRequest!.id });
  expect(await exposure()).toMatchObject(owing);
  await sqlOf(
    harness,
    `insert into funds.deduction (merchant_id, environment, source_id, amount_minor, open_debt_minor, occurred_at)
     select $1, 'live', gen_random_uuid(), $2, $2, now() from generate_series(1, 1025)`,
    [tenant.merchantId, 9_007_199_254_740_991n],
  );
  expect(await exposure()).toBeUndefined();
});

it('has the review, then the payout, as its next action until the first covered date, and none after the payout', async () => {
  const tenant = newTenant();
  const client = createClient(AdvanceService, harness.transports.grpc);
  const { sell, write } = fundsCaller(harness.transports.grpc, tenant);
  await sell({ on: SOLD, gross: 100n });
  const { quote } = await client.quoteAdvance(write(SOLD));
  const { advanceRequest } = await client.requestAdvance({ ...write(SOLD), quoteId: quote!.id });
  const { id: advanceRequestId, requestedAt } = advanceRequest!;
  const item = async () => (await client.listAdvanceQueue(tenant)).items[0];
  const dueAt = timestampOf(startOfDay(quote!.installments[0]!.date));
  const review = { advanceRequest, nextAction: Action.REVIEW, waitingSince: requestedAt, dueAt };
  expect(await item()).toMatchObject(review);
  const approved = await client.approveAdvance({ ...write(SOLD), advanceRequestId });
  expect(await item()).toMatchObject({
    advanceRequest: approved.advanceRequest,
    nextAction: Action.RELEASE,
    waitingSince: approved.advanceRequest!.reviewedAt,
    dueAt,
  });
  await client.releaseAdvance({ ...write(SOLD), advanceRequestId });
  expect(await item()).toBeUndefined();
});

it('asks funds once about all requests of a page', async () => {
  const one = await pendingRequest();
  const other = await pendingRequest();
  const before = await fundsCalls();
  const { items } = await one.client.listAdvanceQueue({ pageSize: 100 });
  expect((await fundsCalls()) - before).toBe(1);
  const exposed = items.filter(({ exposure }) => exposure).map(({ advanceRequest }) => advanceRequest!.id);
  expect(exposed).toEqual(expect.arrayContaining([one.id, other.id]));
  await expect(one.client.listAdvanceQueue(newTenant())).resolves.toMatchObject({ items: [] });
  expect((await fundsCalls()) - before).toBe(1);
});

it('leaves connections to other reads while those of what merchants owe take long', async () => {
  const { client, tenant, id: advanceRequestId } = await pendingRequest();
  await copyRequest(harness, advanceRequestId, 99);
  await using session = await openSession(harness.databaseUrl);
  await session.query('begin; lock table funds.release in access exclusive mode');
  // Opens the pool's connection, so that the first poll is immediate.
  await lockWaits(harness);
  const page = client.listAdvanceQueue({ ...tenant, pageSize: 100 });
  // At once: connections that have just answered are shared with other short reads.
  await expect.poll(() => lockWaits(harness), { interval: 2 }).not.toEqual([]);
  await client.getAdvanceRequest({ ...tenant, advanceRequestId });
  await session.query('commit');
  const { items } = await page;
  expect(items.filter(({ exposure }) => exposure)).toHaveLength(100);
});

/** A request of a new merchant that awaits its review. */
async function pendingRequest() {
  const tenant = newTenant();
  const client = createClient(AdvanceService, harness.transports.grpc);
  const { sell, write } = fundsCaller(harness.transports.grpc, tenant);
  await sell({ on: SOLD, gross: 100n });
  const { quote } = await client.quoteAdvance(write(SOLD));
  const { advanceRequest } = await client.requestAdvance({ ...write(SOLD), quoteId: quote!.id });
  return { client, tenant, id: advanceRequest!.id };
}

/** How many calls of FundsService this process has answered. */
async function fundsCalls(): Promise<number> {
  const { values } = await rpcDuration.get();
  return values
    .filter(
      ({ metricName, labels }) => metricName?.endsWith('_count') && labels.service === FundsService.typeName,
    )
    .reduce((sum, { value }) => sum + value, 0);
}
