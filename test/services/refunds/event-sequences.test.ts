import { randomUUID } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ApprovalMode,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundDebitOutcome,
  ReviewDecision,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { startHarness, type TestHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/harness-sql.ts';
import { refundsOf } from './refund-case-fixture.ts';

const CASES = 12;

let harness: TestHarness;
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'refunds' });
});
afterAll(() => harness.close());

interface Numbered {
  readonly object_id: string;
  readonly numbers: readonly number[];
  readonly last: number;
}

/** The numbers of each object's events, and the last one its counter has given. */
const numbered = () =>
  sqlOf<Numbered>(
    harness,
    `select object_id, array_agg(sequence::int order by sequence) as numbers, max(last_sequence)::int as last
       from webhooks.event full join webhooks.object_sequence using (merchant_id, environment, object_id)
      group by merchant_id, environment, object_id`,
  );

/** Makes this share of later writes fail at their last statement, after they have published. */
const failWrites = (share: number) =>
  sqlOf(
    harness,
    `create or replace function public.fail_some() returns trigger language plpgsql as $$
     begin
       if random() < ${share} then raise exception 'the disk is full'; end if;
       return new;
     end $$;
     drop trigger if exists fail_some on platform.idempotency_record;
     create trigger fail_some before insert on platform.idempotency_record
       for each row execute function public.fail_some()`,
  );

it('has no gaps and no duplicates, whatever is refused, rolled back or concurrent', async () => {
  const fixture = refundsOf(harness, 'grpc');
  const { refunds, write, open } = fixture;
  const paymentIntentId = randomUUID();
  const paidAt = timestampFromDate(new Date(Date.now() - 60_000));
  const facts = { paymentIntentId, paidAt, paidAmountMinor: 1_000_000n };
  const cases = await Promise.all(
    Array.from({ length: CASES }, async (_, n) => {
      const more = n % 2 === 0 ? facts : {};
      return (await open({ ...more, ...(n % 3 === 0 && { approvalMode: ApprovalMode.INSTANT }) })).id;
    }),
  );
  await failWrites(0.3);
  // Two of the payment whose refunds may be executing, two of one that has none.
  const elsewhere = randomUUID();
  const disputes = Array.from({ length: 4 }, (_, n) => ({
    disputeId: randomUUID(),
    paymentIntentId: n < 2 ? paymentIntentId : elsewhere,
  }));
  const rounds = Array.from({ length: 4 }, () => [
    ...disputes.flatMap(({ disputeId, paymentIntentId }) => [
      () => refunds.openDispute({ ...write(), disputeId, paymentIntentId }),
      () => refunds.closeDispute({ ...write(), disputeId }),
    ]),
    ...cases.flatMap((refundCaseId) => [
      () => refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.APPROVED }),
      () => refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.CONTESTED }),
      () =>
        refunds.reviewRefundCase({
          ...write(),
          refundCaseId,
          decision: ReviewDecision.APPROVE,
          approvalMode: ApprovalMode.OPERATIONS,
        }),
      () => refunds.startRefund({ ...write(), refundCaseId }),
      () => refunds.recordRefundDebit({ ...write(), refundCaseId, outcome: RefundDebitOutcome.INSUFFICIENT }),
      () => refunds.recordRefundDebit({ ...write(), refundCaseId, outcome: RefundDebitOutcome.DEBITED }),
      () => refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome: ProviderOutcome.SUCCEEDED }),
      () => refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome: ProviderOutcome.FAILED }),
    ]),
  ]);
  const outcomes: PromiseSettledResult<unknown>[] = [];
  for (const round of rounds) {
    outcomes.push(...(await Promise.allSettled(shuffled(round).map((write) => write()))));
  }
  const failures = outcomes
    .filter((outcome) => outcome.status === 'rejected')
    .map(({ reason }) => `${reason}`);
  expect(failures.filter((failure) => failure.includes('[internal]')).length).toBeGreaterThan(5);
  expect(failures.filter((failure) => failure.includes('[failed_precondition]')).length).toBeGreaterThan(5);
  expect(failures.length).toBeLessThan(outcomes.length - 25);
  const objects = await numbered();
  expect(objects.length).toBeGreaterThan(CASES);
  for (const { object_id, numbers, last } of objects) {
    const gapless = Array.from({ length: numbers.length }, (_, index) => index + 1);
    expect([object_id, numbers, last]).toEqual([object_id, gapless, numbers.length]);
  }
});

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ value }) => value);
}
