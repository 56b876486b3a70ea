import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { PayoutAnswer as Answer } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import {
  afterPayoutAnswer,
  NO_PAYOUT,
  type PayoutAnswer,
} from '../../../services/advances/advance-payout.ts';
import { type AdvanceRequest, openRequest } from '../../../services/advances/advance-request.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness } from '../../support/harness.ts';
import { scrape } from '../../support/scrape.ts';
import { advancesCaller, SOLD } from './advances-caller.ts';

const releasedAt = new Date('2020-06-20T15:00:00.000Z');
const released: AdvanceRequest = {
  ...openRequest(['2020-07-20'], releasedAt),
  status: 'RELEASED',
  reviewedAt: releasedAt,
  releasedAt,
};

const providerPayoutId = fc.constantFrom('po_1', 'po_2', 'po_3');
const reason = fc.string({ minLength: 1 });
const answer = fc.oneof(
  fc.record({ answer: fc.constantFrom('REFUSED' as const, 'FAILED' as const), reason }),
  fc.record({
    answer: fc.constant('ACCEPTED' as const),
    providerPayoutId,
    acceptedAt: fc.constantFrom(undefined, releasedAt),
  }),
  fc.record({ answer: fc.constant('RETURNED' as const), providerPayoutId, reason }),
) satisfies fc.Arbitrary<PayoutAnswer>;

/** The state that follows from the answers so far. */
interface Expected {
  readonly attempts: number;
  readonly last: PayoutAnswer | undefined;
}

/** The state after an answer, or the reason for which it is refused. */
function next({ attempts, last }: Expected, answer: PayoutAnswer): Expected | string {
  const known = last && 'providerPayoutId' in last ? last.providerPayoutId : undefined;
  if (answer.answer === 'RETURNED') {
    if (answer.providerPayoutId !== known) return 'PAYOUT_NOT_ACCEPTED';
    return { attempts, last: last?.answer === 'RETURNED' ? last : answer };
  }
  if (known === undefined) return { attempts: attempts + 1, last: answer };
  if (answer.answer !== 'ACCEPTED') return { attempts, last };
  const isAnother = answer.providerPayoutId !== known;
  if (last?.answer === 'ACCEPTED') return isAnother ? 'PAYOUT_ALREADY_ACCEPTED' : { attempts, last };
  return isAnother ? { attempts: attempts + 1, last: answer } : 'PAYOUT_RETURNED';
}

describe('the payout', () => {
  it('is accepted once, until the bank returns it and another one is accepted, even if a clock is behind', () => {
    const step = fc.record({ answer, at: fc.date({ noInvalidDate: true }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let request = { ...released, ...NO_PAYOUT };
        let expected: Expected = { attempts: 0, last: undefined };
        for (const { answer, at } of steps) {
          const record = () => afterPayoutAnswer(request, answer, at);
          const after = next(expected, answer);
          if (typeof after === 'string') {
            expect(record).toThrow(expect.objectContaining({ reason: after }));
            continue;
          }
          request = { ...request, ...record() };
          expected = after;
          const { last } = expected;
          expect(request).toMatchObject({
            payoutAttempts: expected.attempts,
            payoutLastAnswer: last?.answer ?? null,
            payoutLastReason: last && 'reason' in last ? last.reason : null,
            payoutProviderId: last && 'providerPayoutId' in last ? last.providerPayoutId : null,
          });
          expect(request.payoutAcceptedAt !== null).toBe(last?.answer === 'ACCEPTED');
          const times = [releasedAt, request.payoutSubmittedAt, request.payoutLastAnswerAt];
          const known = times.filter((time) => time !== null).map((time) => time.getTime());
          expect(known).toEqual(known.toSorted((a, b) => a - b));
        }
      }),
    );
  });
});

describe('RecordPayoutAnswer', async () => {
  const harness = await startHarness({ SERVICES: 'funds,advances' });
  afterAll(() => harness.close());

  async function approved() {
    const caller = await advancesCaller(harness.transports.inProcess);
    const { id } = await caller.request((await caller.quote()).id);
    await caller.approve(id);
    const record = async (
      answer: Parameters<typeof caller.client.recordPayoutAnswer>[0]['answer'],
      on = SOLD,
    ) => {
      const request = { ...caller.funds.write(on), advanceRequestId: id, answer };
      return (await caller.client.recordPayoutAnswer(request)).advanceRequest!;
    };
    return { ...caller, id, record };
  }

  it('keeps the state of the payout with the request, until it is accepted', async () => {
    const { id, release, record, get, client, funds } = await approved();
    expect((await release(id)).payout).toBeUndefined();
    await record({ case: 'refused', value: 'no account' });
    const { payout } = await record({ case: 'failed', value: 'no answer' }, '2020-06-21');
    const submittedAt = funds.write(SOLD).occurredAt;
    expect(payout).toMatchObject({
      submittedAt,
      attempts: 2,
      lastAnswer: Answer.FAILED,
      lastReason: 'no answer',
      lastAnswerAt: funds.write('2020-06-21').occurredAt,
    });
    expect(payout?.acceptedAt).toBeUndefined();
    const acceptedAt = timestampFromDate(new Date('2020-06-22T10:00:00Z'));
    await record({ case: 'accepted', value: { providerPayoutId: 'po_1', acceptedAt } });
    const last = {
      submittedAt,
      attempts: 3,
      lastAnswer: Answer.ACCEPTED,
      acceptedAt,
      providerPayoutId: 'po_1',
    };
    await record({ case: 'refused', value: 'too late' });
    await record({ case: 'accepted', value: { providerPayoutId: 'po_1' } });
    expect((await get(id)).payout).toMatchObject(last);
    expect((await get(id)).payout?.lastReason).toBeUndefined();
    const { advanceRequests } = await client.listAdvanceRequests(funds.tenant);
    expect(advanceRequests).toMatchObject([{ id, payout: last }]);
  });

  it('refuses and counts a second payout, because the merchant may have been paid twice', async () => {
    const { id, release, record, get } = await approved();
    await release(id);
    const accepted = (providerPayoutId: string) => record({ case: 'accepted', value: { providerPayoutId } });
    const counted = async () => (await scrape())('payments_payouts_second_total{environment="live"}')!;
    const before = await counted();
    const answers = await Promise.allSettled(['po_1', 'po_2', 'po_3'].map(accepted));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const providerPayoutId = (await get(id)).payout!.providerPayoutId!;
    await expectRefusal(accepted('po_4'), Code.FailedPrecondition, 'PAYOUT_ALREADY_ACCEPTED', {
      providerPayoutId,
    });
    expect((await accepted(providerPayoutId)).payout).toMatchObject({ attempts: 1, providerPayoutId });
    expect(await counted()).toBe(before + 3);
  });

  it('records that the bank returned the accepted payout, until another one is accepted', async () => {
    const { id, release, record, get } = await approved();
    await release(id);
    const accept = (providerPayoutId: string) => record({ case: 'accepted', value: { providerPayoutId } });
    const giveBack = (providerPayoutId: string) =>
      record({ case: 'returned', value: { providerPayoutId, reason: 'account closed' } }, '2020-06-22');
    await expectRefusal(giveBack('po_1'), Code.FailedPrecondition, 'PAYOUT_NOT_ACCEPTED');
    await accept('po_1');
    await expectRefusal(giveBack('po_2'), Code.FailedPrecondition, 'PAYOUT_NOT_ACCEPTED', {
      providerPayoutId: 'po_1',
    });
    await giveBack('po_1');
    const returned = { lastAnswer: Answer.RETURNED, lastReason: 'account closed', providerPayoutId: 'po_1' };
    expect((await giveBack('po_1')).payout).toMatchObject(returned);
    expect((await get(id)).payout).toMatchObject({ ...returned, attempts: 1 });
    expect((await get(id)).payout?.acceptedAt).toBeUndefined();
    await expectRefusal(accept('po_1'), Code.FailedPrecondition, 'PAYOUT_RETURNED');
    const paid = { lastAnswer: Answer.ACCEPTED, providerPayoutId: 'po_2', attempts: 2 };
    expect((await accept('po_2')).payout).toMatchObject(paid);
    expect((await get(id)).payout?.lastReason).toBeUndefined();
  });

  it('refuses a request that is not released, and one without an answer', async () => {
    const { id, record, funds, client } = await approved();
    const accepted = { case: 'accepted', value: { providerPayoutId: 'po_1' } } as const;
    await expectRefusal(record(accepted), Code.FailedPrecondition, 'ADVANCE_REQUEST_STATE', {
      status: 'APPROVED',
    });
    const request = { ...funds.write(SOLD), advanceRequestId: id };
    await expectRefusal(client.recordPayoutAnswer(request), Code.InvalidArgument, 'INVALID_ARGUMENT', {
      field: 'answer',
    });
  });
});
