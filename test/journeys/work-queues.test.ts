import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Role } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import {
  MerchantDecisionKind,
  RefundBlocker,
  RefundCaseStatus,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DAY_MS } from '../../services/platform/durations.ts';
import {
  DASHBOARD_SETTINGS,
  type DashboardFixture,
  dashboardOn,
} from '../gateway/dashboard/dashboard-fixture.ts';
import { makeFolder } from '../local/temporary-data-folder.ts';
import { aJpeg } from '../services/refunds/evidence/evidence-files.ts';
import { daysAgo } from '../support/ago.ts';
import { startProvider, type TestProvider } from '../support/provider-server.ts';
import { TEMPORAL_START_MS } from '../support/temporal.ts';
import { eventually, merchantOf, startRefundHarness } from '../workflows/refunds/refund-harness.ts';
import { DocsReader, type Item, recordOf } from './docs-reader.ts';

const reviewer = new DocsReader('reviewer', 'Reviewing refund cases and disputes');
const clerk = new DocsReader('clerk', 'Paying out advances');
const engineer = new DocsReader('engineer', 'Working with the provider');
const collector = new DocsReader('collector', 'Collecting debts');

let folder: ReturnType<typeof makeFolder>;
let provider: TestProvider;
let running: Awaited<ReturnType<typeof startRefundHarness>>;
let dashboard: DashboardFixture;
beforeAll(async () => {
  folder = makeFolder();
  provider = await startProvider();
  running = await startRefundHarness({
    ...provider.settings,
    SERVICE_TOKENS: [reviewer, clerk, engineer, collector].map(({ entry }) => entry).join(';'),
    ...DASHBOARD_SETTINGS,
    REFUND_EXECUTION: 'automatic',
    PROVIDER_SILENT_AFTER: '1s',
  });
  for (const reader of [reviewer, clerk, engineer, collector])
    reader.start(folder.path, running.harness.baseUrl);
  dashboard = await dashboardOn(running.harness);
}, TEMPORAL_START_MS);
afterAll(async () => {
  await dashboard?.close();
  await running?.close();
  await provider?.[Symbol.asyncDispose]();
  folder?.remove();
});

/** A merchant with a contested refund, a dispute and an advance request; the provider never pays their advance out. */
async function merchantWithWork(disputeDueAt: number) {
  const merchant = merchantOf(running.harness);
  const { refunds, write, open } = merchant;
  const saleId = await merchant.earn(10_000n);
  const { id: refundCaseId } = await open({ saleId });
  provider.refund(refundCaseId, () => ({
    result: { case: 'accepted', value: { providerRefundId: 'rf_1', submissionStatus: 'queued' } },
  }));
  await refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.CONTESTED });
  const disputeId = randomUUID();
  const opening = { disputeId, paymentIntentId: randomUUID(), dueAt: timestampFromMs(disputeDueAt) };
  const occurredAt = daysAgo(10);
  await refunds.openDispute({ ...write(), ...opening, occurredAt });
  await merchant.funds.sell({ gross: 5_000n });
  const advances = createClient(AdvanceService, running.harness.transports.inProcess);
  const { quote } = await advances.quoteAdvance(write());
  const { advanceRequest } = await advances.requestAdvance({ ...write(), quoteId: quote!.id });
  const advanceRequestId = advanceRequest!.id;
  provider.payout(advanceRequestId, () => ({ result: { case: 'refused', value: { reason: 'no account' } } }));
  const refusePayout = () =>
    advances.recordPayoutAnswer({
      ...write(),
      advanceRequestId,
      answer: { case: 'refused', value: 'no account' },
    });
  return { ...merchant, refundCaseId, disputeId, advanceRequestId, refusePayout };
}

/** Expects a queue to begin with this record and this next action. */
function expectItem(item: Item | undefined, id: string, nextAction: RegExp): Item {
  expect(item && recordOf(item).id).toBe(id);
  expect(item!.nextAction).toMatch(nextAction);
  expect(Date.parse(item!.waitingSince)).toBeLessThanOrEqual(Date.now());
  return item!;
}

// First, while the queues are empty.
it('lets a reviewer read the photos with which a merchant contests a refund and responds to a dispute', async () => {
  const { refunds, tenant, write, open, case: caseOf } = merchantOf(running.harness);
  const merchant = await dashboard.signIn({ [tenant.merchantId]: Role.DEVELOPER });
  const { id: refundCaseId } = await open();
  const disputeId = randomUUID();
  const dueAt = timestampFromMs(Date.now() + DAY_MS);
  await refunds.openDispute({ ...write(), disputeId, paymentIntentId: randomUUID(), dueAt });

  const photos = [aJpeg(300_000), aJpeg(200_000)] as const;
  const casePage = `/live/${tenant.merchantId}/refunds/${refundCaseId}`;
  const attached = await merchant.attach(casePage, '/evidence', 'doorstep.jpeg', photos[0]);
  expect(attached.status).toBe(200);
  const contested = await merchant.submit(attached, '/contest', { contest_reason: 'It was delivered.' });
  expect(contested.status).toBe(200);
  const disputePage = `/live/${tenant.merchantId}/disputes/${disputeId}`;
  const answering = await merchant.attach(disputePage, '/evidence', 'signature.jpg', photos[1]);
  const response = 'The customer has signed for it.';
  expect((await merchant.submit(answering, '/respond', { response })).status).toBe(200);

  const toReview = expectItem(await reviewer.oldest(0), refundCaseId, /_REVIEW$/);
  const [doorstep, ...others] = await reviewer.filesOf(toReview);
  expect([doorstep!.fileName, others]).toEqual(['doorstep.jpg', []]);
  expect(doorstep!.content.equals(photos[0])).toBe(true);
  await reviewer.finish(toReview, 1, ['REVIEW_DECISION_APPROVE', 'REVIEW_DECISION_REJECT']);
  expect((await caseOf(refundCaseId)).status).toBe(RefundCaseStatus.REJECTED);
  expect(await reviewer.oldest(0)).toBeUndefined();

  const answered = expectItem(await reviewer.oldest(2), disputeId, /_REVIEW_RESPONSE$/);
  expect(answered.dispute).toMatchObject({ response: { text: response }, evidenceCount: 1 });
  const [signature] = await reviewer.filesOf(answered);
  expect(signature!.content.equals(photos[1])).toBe(true);
  await reviewer.finish(answered, 3);
  expect(await reviewer.oldest(2)).toBeUndefined();
  const submitted = expectItem(await reviewer.oldest(4), disputeId, /_RECORD_OUTCOME$/);
  await reviewer.finish(submitted, 5);
  expect(await reviewer.oldest(4)).toBeUndefined();
});

it('guides a reviewer, a payout clerk and a provider engineer through the oldest work, using only the page', async () => {
  const older = await merchantWithWork(Date.now() - DAY_MS);
  const younger = await merchantWithWork(Date.now() + DAY_MS);

  const toReview = expectItem(await reviewer.oldest(0), older.refundCaseId, /_REVIEW$/);
  await reviewer.finish(toReview, 1);
  expectItem(await reviewer.oldest(0), younger.refundCaseId, /_REVIEW$/);
  const due = expectItem(await reviewer.oldest(4), older.disputeId, /_RECORD_OUTCOME$/);
  await reviewer.finish(due, 5);
  expectItem(await reviewer.oldest(4), younger.disputeId, /_AWAIT_MERCHANT$/);

  const requested = expectItem(await clerk.oldest(0), older.advanceRequestId, /_REVIEW$/);
  await clerk.finish(requested, 1);
  expectItem(await clerk.oldest(0), younger.advanceRequestId, /_REVIEW$/);
  const toPayOut = expectItem(await clerk.oldest(2), older.advanceRequestId, /_RELEASE$/);
  await clerk.finish(toPayOut, 3, ['<disputeId>', older.disputeId]);
  await clerk.finish(toPayOut, 4);
  expect(await clerk.oldest(2)).toBeUndefined();

  await eventually(async () => {
    expectItem(await engineer.oldest(0), older.refundCaseId, /_CONTACT_PROVIDER$/);
  });
  await engineer.finish((await engineer.oldest(0))!, 1);
  expect(await engineer.oldest(0)).toBeUndefined();
  expect((await older.case(older.refundCaseId)).status).toBe(RefundCaseStatus.SUCCEEDED);
  for (let n = 0; n < 5; n += 1) await older.refusePayout();
  const stuck = expectItem(await engineer.oldest(2), older.advanceRequestId, /_CONTACT_PROVIDER$/);
  await engineer.finish(stuck, 3);
  expect(await engineer.oldest(2)).toBeUndefined();
});

it('guides a reviewer to an approved refund that is blocked, which is executed once its blocker is cleared', async () => {
  const { refunds, open, write, becomes, earn } = merchantOf(running.harness);
  const { id: refundCaseId } = await open({ saleId: await earn(10_000n) });
  await refunds.addBlocker({ ...write(), refundCaseId, blocker: RefundBlocker.KYC_NOT_APPROVED });
  await refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.APPROVED });
  const blocked = expectItem(await reviewer.oldest(8), refundCaseId, /_CLEAR_BLOCKER$/);
  await reviewer.finish(blocked, 9);
  expect(await reviewer.oldest(8)).toBeUndefined();
  await becomes(refundCaseId, RefundCaseStatus.PROCESSING);
});

it('guides a collector to a debt that sales have not covered, whose payment also funds a waiting refund', async () => {
  const debtor = merchantOf(running.harness);
  const { funds, refunds, open, write } = debtor;
  const saleId = await debtor.earn(10_000n);
  const sourceId = randomUUID();
  await funds.client.applyDeduction({ ...funds.write(), sourceId, amountMinor: 12_000n });
  const { id: refundCaseId } = await open({ saleId });
  await refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.APPROVED });
  await debtor.becomes(refundCaseId, RefundCaseStatus.FUNDING_REQUIRED);

  const owed = expectItem(await collector.oldest(0), sourceId, /_AWAIT_SALES$/);
  await collector.finish(owed, 1);
  expect(await collector.oldest(0)).toBeUndefined();
  await debtor.becomes(refundCaseId, RefundCaseStatus.PROCESSING);
});
