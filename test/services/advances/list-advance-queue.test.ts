import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { AdvanceAction as Action } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { BlockReason, FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { startOfDay } from '../../../services/platform/civil-date.ts';
import { rpcDuration } from '../../../services/platform/process/telemetry.ts';
import { timestampOf } from '../../../services/platform/timestamps.ts';
import { newTenant } from '../../support/harness.ts';
import { sharedListHarness } from '../../support/list-suite.ts';
import { describeQueue } from '../../support/queue-suite.ts';
import { lockWaits, openSession, sqlOf } from '../../support/sql.ts';
import { advanceQueue } from './advance-queue.ts';
import { SOLD } from './advances-caller.ts';
import { copyRequest, requestsOf } from './request-rows.ts';

// Without the reads in funds of what merchants owe.
const { harness, statements } = sharedListHarness('funds,advances', (sql) =>
  sql.includes('"advances"."request"'),
);

describeQueue(
  'ListAdvanceQueue',
  () => advanceQueue(harness()),
  statements,
  [
    ['', 'request_queue'],
    ['status', 'request_queue_status'],
  ],
  [['', 'request_queue_merchant']],
);

it('says what the merchant owes, and which disputes and holds of the covered sales cannot hold what is reserved', async () => {
  const tenant = newTenant();
  const { advances, sell, write, deduct, block, request } = requestsOf(harness().transports.grpc, tenant);
  const { saleId, advanceRequest } = await request();
  const exposure = async () => (await advances.listAdvanceQueue(tenant)).items[0]!.exposure;
  const none = { availableAmountMinor: 0n, openDebtsAmountMinor: 0n, disputeIds: [] };
  expect(await exposure()).toMatchObject(none);
  const disputeId = randomUUID();
  await block(saleId, disputeId, undefined, SOLD);
  await block((await sell({ on: SOLD, gross: 30n })).saleId, randomUUID(), undefined, SOLD);
  await deduct(70n, undefined, SOLD);
  await sell({ on: SOLD, gross: 20n, instant: true });
  const owing = { availableAmountMinor: -50n, openDebtsAmountMinor: 70n, disputeIds: [disputeId] };
  expect(await exposure()).toMatchObject({ ...owing, kycPending: false, complianceHold: false });
  await block(saleId, randomUUID(), BlockReason.KYC_PENDING, SOLD);
  expect(await exposure()).toMatchObject({ ...owing, kycPending: true, complianceHold: false });
  await block(saleId, randomUUID(), BlockReason.COMPLIANCE_HOLD, SOLD);
  expect(await exposure()).toMatchObject({ ...owing, kycPending: true, complianceHold: true });
  await advances.approveAdvance({ ...write(SOLD), advanceRequestId: advanceRequest.id });
  expect(await exposure()).toMatchObject(owing);
  await sqlOf(
    harness(),
    `insert into funds.deduction (merchant_id, environment, source_id, amount_minor, open_debt_minor, occurred_at)
     select $1, 'live', gen_random_uuid(), $2, $2, now() from generate_series(1, 1025)`,
    [tenant.merchantId, 9_007_199_254_740_991n],
  );
  expect(await exposure()).toBeUndefined();
});

it('has the review, then the payout, as its next action until the first covered date, and none after the payout', async () => {
  const tenant = newTenant();
  const { advances, write, request } = requestsOf(harness().transports.grpc, tenant);
  const { quote, advanceRequest } = await request();
  const { id: advanceRequestId, requestedAt } = advanceRequest;
  const item = async () => (await advances.listAdvanceQueue(tenant)).items[0];
  const dueAt = timestampOf(startOfDay(quote.installments[0]!.date));
  const review = { advanceRequest, nextAction: Action.REVIEW, waitingSince: requestedAt, dueAt };
  expect(await item()).toMatchObject(review);
  const approved = await advances.approveAdvance({ ...write(SOLD), advanceRequestId });
  expect(await item()).toMatchObject({
    advanceRequest: approved.advanceRequest,
    nextAction: Action.RELEASE,
    waitingSince: approved.advanceRequest!.reviewedAt,
    dueAt,
  });
  await advances.releaseAdvance({ ...write(SOLD), advanceRequestId });
  expect(await item()).toBeUndefined();
});

it('asks funds once about all requests of a page', async () => {
  const one = await pendingRequest();
  const other = await pendingRequest();
  const before = await fundsCalls();
  const { items } = await one.advances.listAdvanceQueue({ pageSize: 100 });
  expect((await fundsCalls()) - before).toBe(1);
  const exposed = items.filter(({ exposure }) => exposure).map(({ advanceRequest }) => advanceRequest!.id);
  expect(exposed).toEqual(expect.arrayContaining([one.id, other.id]));
  await expect(one.advances.listAdvanceQueue(newTenant())).resolves.toMatchObject({ items: [] });
  expect((await fundsCalls()) - before).toBe(1);
});

it('leaves connections to other reads while those of what merchants owe take long', async () => {
  const { advances, tenant, id: advanceRequestId } = await pendingRequest();
  await copyRequest(harness(), advanceRequestId, 99);
  await using session = await openSession(harness().databaseUrl);
  await session.query('begin; lock table funds.release in access exclusive mode');
  // Opens the pool's connection, so that the first poll is immediate.
  await lockWaits(harness());
  const page = advances.listAdvanceQueue({ ...tenant, pageSize: 100 });
  // At once: connections that have just answered are shared with other short reads.
  await expect.poll(() => lockWaits(harness()), { interval: 2 }).not.toEqual([]);
  await advances.getAdvanceRequest({ ...tenant, advanceRequestId });
  await session.query('commit');
  const { items } = await page;
  expect(items.filter(({ exposure }) => exposure)).toHaveLength(100);
});

/** A request of a new merchant that awaits its review. */
async function pendingRequest() {
  const tenant = newTenant();
  const { advances, request } = requestsOf(harness().transports.grpc, tenant);
  return { advances, tenant, id: (await request()).advanceRequest.id };
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
