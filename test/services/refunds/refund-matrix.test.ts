import { randomUUID } from 'node:crypto';
import { Code, type ConnectError } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import {
  ApprovalMode,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  RefundDebitOutcome,
  RefundInitiator,
  ReviewDecision,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { errorInfoOf } from '../../../services/platform/rpc/connect-errors.ts';
import { daysAgo } from '../../support/ago.ts';
import { startHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { refundsOf } from './refund-case-fixture.ts';

const harness = await startHarness({ SERVICES: 'refunds,funds' });
afterAll(() => harness.close());

type Fixture = ReturnType<typeof refundsOf>;
type Target = { refundCaseId: string; paymentIntentId: string };

/** Every RPC that is about a case, with each of its meanings. */
const ACTS = {
  'the merchant approves': ({ refunds, write }: Fixture, of: Target) =>
    refunds.decideRefundCase({ ...write(), ...of, decision: MerchantDecisionKind.APPROVED }),
  'the merchant contests': ({ refunds, write }: Fixture, of: Target) =>
    refunds.decideRefundCase({ ...write(), ...of, decision: MerchantDecisionKind.CONTESTED }),
  'the deadline passes': ({ refunds, write }: Fixture, of: Target) =>
    refunds.expireMerchantReview({ ...write(), ...of }),
  'the deadline approaches': ({ refunds, write }: Fixture, of: Target) =>
    refunds.announceReviewDeadline({ ...write(), ...of }),
  'the review approves': ({ refunds, write }: Fixture, of: Target) => {
    const review = { decision: ReviewDecision.APPROVE, approvalMode: ApprovalMode.OPERATIONS };
    return refunds.reviewRefundCase({ ...write(), ...of, ...review });
  },
  'the review rejects': ({ refunds, write }: Fixture, of: Target) => {
    const review = { decision: ReviewDecision.REJECT, approvalMode: ApprovalMode.RISK_POLICY };
    return refunds.reviewRefundCase({ ...write(), ...of, ...review });
  },
  'a dispute opens': ({ refunds, write }: Fixture, of: Target) =>
    refunds.openDispute({ ...write(), ...of, disputeId: randomUUID() }),
  'a blocker is added': ({ refunds, write }: Fixture, of: Target) =>
    refunds.addBlocker({ ...write(), ...of, blocker: RefundBlocker.KYC_NOT_APPROVED }),
  'a blocker is cleared': ({ refunds, write }: Fixture, of: Target) =>
    refunds.clearBlocker({ ...write(), ...of, blocker: RefundBlocker.KYC_NOT_APPROVED }),
  'execution starts': ({ refunds, write }: Fixture, of: Target) => refunds.startRefund({ ...write(), ...of }),
  'it is debited': ({ refunds, write }: Fixture, of: Target) =>
    refunds.recordRefundDebit({ ...write(), ...of, outcome: RefundDebitOutcome.DEBITED }),
  'the balance is too low': ({ refunds, write }: Fixture, of: Target) =>
    refunds.recordRefundDebit({ ...write(), ...of, outcome: RefundDebitOutcome.INSUFFICIENT }),
  'the provider takes it': ({ refunds, write }: Fixture, of: Target) =>
    refunds.recordProviderOutcome({ ...write(), ...of, outcome: ProviderOutcome.SUBMITTED }),
  'the provider pays it': ({ refunds, write }: Fixture, of: Target) =>
    refunds.recordProviderOutcome({ ...write(), ...of, outcome: ProviderOutcome.SUCCEEDED }),
  'the provider returns it': ({ refunds, write }: Fixture, of: Target) =>
    refunds.recordProviderOutcome({ ...write(), ...of, outcome: ProviderOutcome.FAILED }),
  'the provider refuses it': ({ refunds, write }: Fixture, of: Target) =>
    refunds.recordProviderOutcome({ ...write(), ...of, outcome: ProviderOutcome.REFUSED }),
  'it is canceled': ({ refunds, write }: Fixture, of: Target) =>
    refunds.cancelRefundCase({ ...write(), ...of }),
} as const;
type Act = keyof typeof ACTS;

type State = keyof typeof Status | 'EXECUTING';
type Opening = Parameters<Fixture['open']>[0];

interface Place {
  readonly state: State;
  readonly opening?: Opening;
  /** The actions that bring a new case to this state. */
  readonly by: readonly Act[];
  /** The allowed actions and the states that they lead to; everything else is refused. */
  readonly may: Readonly<Partial<Record<Act, State>>>;
}

const instant: Opening = { approvalMode: ApprovalMode.INSTANT };
const staying = (state: State) => ({ 'a blocker is added': state, 'a blocker is cleared': state }) as const;

const PLACES: readonly Place[] = [
  {
    state: 'MERCHANT_REVIEW',
    by: [],
    may: {
      ...staying('MERCHANT_REVIEW'),
      'the merchant approves': 'APPROVED_FOR_EXECUTION',
      'the merchant contests': 'SERVICE_REVIEW',
      'the deadline passes': 'SERVICE_REVIEW',
      'the deadline approaches': 'MERCHANT_REVIEW',
      'a dispute opens': 'MERCHANT_REVIEW',
      'it is canceled': 'CANCELED',
    },
  },
  {
    state: 'SERVICE_REVIEW',
    by: ['the merchant contests'],
    may: {
      ...staying('SERVICE_REVIEW'),
      'the review approves': 'APPROVED_FOR_EXECUTION',
      'the review rejects': 'REJECTED',
      'a dispute opens': 'SERVICE_REVIEW',
      'it is canceled': 'CANCELED',
    },
  },
  {
    state: 'APPROVED_FOR_EXECUTION',
    opening: { initiator: RefundInitiator.MERCHANT },
    by: [],
    may: {
      ...staying('APPROVED_FOR_EXECUTION'),
      'execution starts': 'EXECUTING',
      'a dispute opens': 'SERVICE_REVIEW',
      'it is canceled': 'CANCELED',
    },
  },
  {
    state: 'EXECUTING',
    opening: instant,
    by: ['execution starts'],
    may: { 'it is debited': 'PROCESSING', 'the balance is too low': 'FUNDING_REQUIRED' },
  },
  {
    state: 'FUNDING_REQUIRED',
    opening: instant,
    by: ['execution starts', 'the balance is too low'],
    may: {
      ...staying('FUNDING_REQUIRED'),
      'execution starts': 'EXECUTING',
      'the balance is too low': 'FUNDING_REQUIRED',
      'a dispute opens': 'SERVICE_REVIEW',
      'it is canceled': 'CANCELED',
    },
  },
  {
    state: 'PROCESSING',
    opening: instant,
    by: ['execution starts', 'it is debited'],
    may: {
      'it is debited': 'PROCESSING',
      'the provider takes it': 'PROCESSING',
      'the provider pays it': 'SUCCEEDED',
      'the provider returns it': 'FAILED',
      'the provider refuses it': 'FAILED',
    },
  },
  {
    state: 'SUCCEEDED',
    opening: instant,
    by: ['execution starts', 'it is debited', 'the provider pays it'],
    may: {
      'it is debited': 'SUCCEEDED',
      'the provider takes it': 'SUCCEEDED',
      'the provider returns it': 'FAILED',
      'a dispute opens': 'SUCCEEDED',
    },
  },
  {
    state: 'FAILED',
    opening: instant,
    by: ['execution starts', 'it is debited', 'the provider returns it'],
    may: { 'it is debited': 'FAILED', 'the provider takes it': 'FAILED', 'a dispute opens': 'FAILED' },
  },
  { state: 'CANCELED', by: ['it is canceled'], may: { 'a dispute opens': 'CANCELED' } },
  {
    state: 'REJECTED',
    by: ['the merchant contests', 'the review rejects'],
    may: { 'a dispute opens': 'REJECTED' },
  },
];

/** The state as named on the wire, with the start of an execution as a separate state. */
async function stateOf({ refunds, tenant }: Fixture, refundCaseId: string): Promise<State> {
  const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId });
  if (refundCase!.executionStartedAt) return 'EXECUTING';
  return Status[refundCase!.status] as keyof typeof Status;
}

const publishedBy = async ({ tenant }: Fixture) => {
  const sql = `select (select count(*) from webhooks.event where merchant_id = $1)
                    + (select count(*) from platform.outbox_command where merchant_id = $1) as sent`;
  const [row] = await sqlOf<{ sent: string }>(harness, sql, [tenant.merchantId]);
  return Number(row!.sent);
};

describe.each(PLACES)('in $state', ({ state, opening, by, may }) => {
  /** A case in this state. */
  async function caseThere() {
    const fixture = refundsOf(harness);
    const window = { occurredAt: daysAgo(8), paidAt: daysAgo(9) };
    const { id: refundCaseId, paymentIntentId } = await fixture.open({ ...window, ...opening });
    const target = { refundCaseId, paymentIntentId };
    for (const step of by) await ACTS[step](fixture, target);
    expect(await stateOf(fixture, refundCaseId)).toBe(state);
    return { fixture, target };
  }

  it.each(Object.entries(may) as [Act, State][])('%s leads to %s', async (act, next) => {
    const { fixture, target } = await caseThere();
    await ACTS[act](fixture, target);
    expect(await stateOf(fixture, target.refundCaseId)).toBe(next);
  });

  it('every other action is refused with the state, and changes nothing', async () => {
    const { fixture, target } = await caseThere();
    const published = await publishedBy(fixture);
    const named = state === 'EXECUTING' ? 'APPROVED_FOR_EXECUTION' : state;
    for (const act of (Object.keys(ACTS) as Act[]).filter((each) => !(each in may))) {
      const outcome: unknown = await ACTS[act](fixture, target).catch((error: unknown) => error);
      expect([act, (outcome as ConnectError).code]).toEqual([act, Code.FailedPrecondition]);
      expect([act, errorInfoOf(outcome)?.metadata]).toMatchObject([act, { state: named }]);
      expect([act, await stateOf(fixture, target.refundCaseId)]).toEqual([act, state]);
      expect([act, await publishedBy(fixture)]).toEqual([act, published]);
    }
  });
});
