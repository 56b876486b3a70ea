import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  ApprovalMode,
  MerchantDecisionKind,
  RefundBlocker,
  RefundInitiator,
  ReviewDecision,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { accountsFixture } from '../../services/accounts/accounts-fixture.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness, type TestHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { merchantOf, type RefundMerchant, sharedRefundHarness } from './refund-harness.ts';

const fixture = sharedRefundHarness({ REFUND_EXECUTION: 'automatic' });

const KYC = RefundBlocker.KYC_NOT_APPROVED;
const { APPROVED, CONTESTED } = MerchantDecisionKind;

/** A case of 400, contested by its merchant. */
async function contested({ refunds, write, open }: RefundMerchant): Promise<string> {
  const { id: refundCaseId } = await open({ amountMinor: 400n });
  await refunds.decideRefundCase({ ...write(), refundCaseId, decision: CONTESTED });
  return refundCaseId;
}

/** The ways to get a case of 400 executed; each returns its id. */
const WAYS: Readonly<Record<string, (of: RefundMerchant) => Promise<string>>> = {
  'the merchant requests it': (of) => of.approved(400n),
  'it is approved at once': async ({ open }) =>
    (await open({ amountMinor: 400n, approvalMode: ApprovalMode.INSTANT })).id,
  'the merchant approves it': async ({ refunds, write, open }) => {
    const { id: refundCaseId } = await open({ amountMinor: 400n });
    await refunds.decideRefundCase({ ...write(), refundCaseId, decision: APPROVED });
    return refundCaseId;
  },
  'its review approves it': async (of) => {
    const refundCaseId = await contested(of);
    const decision = ReviewDecision.APPROVE;
    await of.refunds.reviewRefundCase({
      ...of.write(),
      refundCaseId,
      decision,
      approvalMode: ApprovalMode.OPERATIONS,
    });
    return refundCaseId;
  },
  'its last blocker is cleared': async (of) => {
    const refundCaseId = await contested(of);
    const { refunds, write } = of;
    const blockers = [KYC, RefundBlocker.MERCHANT_NOT_ACTIVE];
    for (const blocker of blockers) await refunds.addBlocker({ ...write(), refundCaseId, blocker });
    const decision = ReviewDecision.APPROVE;
    await refunds.reviewRefundCase({
      ...write(),
      refundCaseId,
      decision,
      approvalMode: ApprovalMode.OPERATIONS,
    });
    for (const blocker of blockers) await refunds.clearBlocker({ ...write(), refundCaseId, blocker });
    return refundCaseId;
  },
};

describe('a refund is executed once', () => {
  it.each(Object.entries(WAYS))('%s', async (_, approve) => {
    const merchant = merchantOf(fixture().harness);
    await merchant.earn(1_000n);
    const id = await approve(merchant);
    await merchant.becomes(id, Status.PROCESSING);
    expect(await merchant.case(id)).toMatchObject({ executions: 1 });
    expect((await merchant.funds.balance()).availableAmountMinor).toBe(600n);
    await expectRefusal(merchant.start(id), Code.FailedPrecondition, 'REFUND_EXECUTION_STARTED');
  });

  it('the balance, which it waited for, suffices', async () => {
    const merchant = merchantOf(fixture().harness);
    const id = await merchant.approved(400n);
    await merchant.becomes(id, Status.FUNDING_REQUIRED);
    await merchant.earn(400n);
    await merchant.becomes(id, Status.PROCESSING);
    expect(await merchant.case(id)).toMatchObject({ executions: 2 });
  });
});

it('actions of the worker after an approval are in the audit trail under the name of the approver', async () => {
  const merchant = merchantOf(fixture().harness);
  await merchant.earn(1_000n);
  const people = accountsFixture(fixture().harness.transports.inProcess);
  const { accountId, headers } = await people.join(merchant.tenant, Role.DEVELOPER);
  const { id: refundCaseId } = await merchant.open({ amountMinor: 400n });
  const decision = { ...merchant.write(), refundCaseId, decision: APPROVED };
  await merchant.refunds.decideRefundCase(decision, { headers });
  await merchant.becomes(refundCaseId, Status.PROCESSING);
  const { entries } = await people.client.listAuditEntries({ ...merchant.tenant, accountId });
  const steps = entries.map(({ action, caller, startedBy }) => [action.split('.').at(-1), caller, startedBy]);
  expect(steps.reverse()).toEqual([
    ['DecideRefundCase', 'test', ''],
    ['BeginRefundExecution', 'worker', 'test'],
    ['DebitForRefund', 'worker', 'test'],
    ['RecordRefundDebit', 'worker', 'test'],
  ]);
});

/** Services without a worker: what a transaction has started has not begun. */
describe('until its execution has started', async () => {
  const harness = await startHarness({ SERVICES: 'refunds', REFUND_EXECUTION: 'automatic' });
  afterAll(() => harness.close());

  const commandsOf = (services: TestHarness, id: string) =>
    sqlOf<{ workflow_id: string }>(
      services,
      "select workflow_id from platform.outbox_command where workflow_type = 'executeRefund' and arguments->0->>'refundCaseId' = $1",
      [id],
    );

  it.each([
    ['a cancellation', 'CANCELED'],
    ['a dispute', 'SERVICE_REVIEW'],
    ['a blocker', 'APPROVED_FOR_EXECUTION'],
  ] as const)('%s wins', async (first, status) => {
    const { refunds, write, approved, case: caseOf } = merchantOf(harness);
    const refundCaseId = await approved(400n);
    const { paymentIntentId } = await caseOf(refundCaseId);
    expect(await commandsOf(harness, refundCaseId)).toEqual([{ workflow_id: `refund-${refundCaseId}` }]);
    if (first === 'a cancellation') await refunds.cancelRefundCase({ ...write(), refundCaseId });
    if (first === 'a dispute')
      await refunds.openDispute({ ...write(), paymentIntentId, disputeId: randomUUID() });
    if (first === 'a blocker') await refunds.addBlocker({ ...write(), refundCaseId, blocker: KYC });
    const begin = refunds.beginRefundExecution({ ...write(), refundCaseId, execution: 1 });
    const reason = first === 'a blocker' ? 'REFUND_CASE_BLOCKED' : 'REFUND_CASE_STATE';
    await expectRefusal(begin, Code.FailedPrecondition, reason);
    expect(Status[(await caseOf(refundCaseId)).status]).toBe(status);
  });

  it('nothing is started for a case that has a blocker, is under review, or with REFUND_EXECUTION=manual', async () => {
    const manual = await startHarness({ SERVICES: 'refunds', REFUND_EXECUTION: 'manual' });
    onTestFinished(() => manual.close());
    expect(await commandsOf(manual, await merchantOf(manual).approved(400n))).toEqual([]);
    const merchant = merchantOf(fixture().harness);
    expect(await commandsOf(fixture().harness, await contested(merchant))).toEqual([]);
    const { id } = await merchant.open({ initiator: RefundInitiator.CUSTOMER });
    expect(await commandsOf(fixture().harness, id)).toEqual([]);
  });
});
