import { afterAll, describe, expect, it } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  ApprovalMode,
  MerchantDecisionKind,
  RefundBlocker,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { hoursAgo } from '../../support/ago.ts';
import { startHarness } from '../../support/harness.ts';
import { refundsOf } from './refund-case-fixture.ts';

const harness = await startHarness({
  SERVICES: 'refunds,funds',
  REFUND_FREQUENCY_LIMIT_24H: '3',
  REFUND_VOLUME_LIMIT_24H: '4000',
});
afterAll(() => harness.close());

describe('the limits of 24 hours', () => {
  it('send a merchant’s excess cases to review, and do not affect other merchants', async () => {
    const { refunds, write, open, tenant } = refundsOf(harness);
    const instant = { approvalMode: ApprovalMode.INSTANT, amountMinor: 1n };
    for (let n = 0; n < 3; n += 1) expect((await open(instant)).status).toBe(Status.APPROVED_FOR_EXECUTION);
    const fourth = await open(instant);
    expect(fourth).toMatchObject({
      status: Status.SERVICE_REVIEW,
      blockedBy: [RefundBlocker.REFUND_FREQUENCY_24H],
    });
    const sandbox = refundsOf(harness, 'inProcess', { ...tenant, environment: Environment.TEST });
    expect((await sandbox.open(instant)).status).toBe(Status.APPROVED_FOR_EXECUTION);
    expect((await refundsOf(harness).open(instant)).status).toBe(Status.APPROVED_FOR_EXECUTION);
    await refunds.cancelRefundCase({ ...write(), refundCaseId: fourth.id });
    const { refundCases } = await refunds.listRefundCases(tenant);
    await refunds.cancelRefundCase({ ...write(), refundCaseId: refundCases[1]!.id });
    expect((await open(instant)).status).toBe(Status.APPROVED_FOR_EXECUTION);
  });

  it('send cases beyond the volume to review, to the cent', async () => {
    const { open } = refundsOf(harness);
    expect((await open({ amountMinor: 3_999n })).blockedBy).toEqual([]);
    const { status, blockedBy } = await open({ amountMinor: 2n });
    expect({ status, blockedBy }).toEqual({
      status: Status.SERVICE_REVIEW,
      blockedBy: [RefundBlocker.REFUND_VOLUME_24H],
    });
    expect((await refundsOf(harness).open({ amountMinor: 4_000n })).blockedBy).toEqual([]);
  });

  it('count the 24 hours around the time of a case, also for a past one', async () => {
    const { open } = refundsOf(harness);
    const paidAt = hoursAgo(72);
    await open({ paidAt, amountMinor: 4_000n, occurredAt: hoursAgo(25) });
    expect((await open({ amountMinor: 4_000n })).blockedBy).toEqual([]);
    for (const hours of [23, 26]) {
      const between = await open({ paidAt, amountMinor: 1n, occurredAt: hoursAgo(hours) });
      expect(between.blockedBy).toEqual([RefundBlocker.REFUND_VOLUME_24H]);
    }
    const earlier = await open({ paidAt, amountMinor: 4_000n, occurredAt: hoursAgo(51) });
    expect(earlier.blockedBy).toEqual([]);
  });

  it('apply again when the merchant approves, but not when they contest', async () => {
    const { refunds, write, open } = refundsOf(harness);
    const paidAt = hoursAgo(72);
    const occurredAt = hoursAgo(25);
    const { id: first } = await open({ paidAt, amountMinor: 3_000n, occurredAt });
    const { id: second } = await open({ paidAt, amountMinor: 1_000n, occurredAt });
    await open({ amountMinor: 2_000n });
    const decide = async (refundCaseId: string, decision: MerchantDecisionKind) =>
      (await refunds.decideRefundCase({ ...write(), refundCaseId, decision })).refundCase!;
    const approved = await decide(first, MerchantDecisionKind.APPROVED);
    expect(approved).toMatchObject({
      status: Status.SERVICE_REVIEW,
      blockedBy: [RefundBlocker.REFUND_VOLUME_24H],
      merchantDecision: { decision: MerchantDecisionKind.APPROVED },
    });
    expect((await decide(second, MerchantDecisionKind.CONTESTED)).blockedBy).toEqual([]);
  });

  it('count the case that the merchant approves once', async () => {
    const { refunds, write, open } = refundsOf(harness);
    const { id: refundCaseId } = await open({ amountMinor: 4_000n });
    const approval = { ...write(), refundCaseId, decision: MerchantDecisionKind.APPROVED };
    expect((await refunds.decideRefundCase(approval)).refundCase!.blockedBy).toEqual([]);
  });

  it('hold for cases opened concurrently', async () => {
    const { open } = refundsOf(harness, 'grpc');
    const openings = Array.from({ length: 9 }, () =>
      open({ approvalMode: ApprovalMode.INSTANT, amountMinor: 1n }),
    );
    const statuses = (await Promise.all(openings)).map(({ status }) => status);
    expect(statuses.filter((status) => status === Status.APPROVED_FOR_EXECUTION)).toHaveLength(3);
  });
});
