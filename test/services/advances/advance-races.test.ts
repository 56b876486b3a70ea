import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { AdvanceRequestStatus } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import * as advanceRequestContract from '../../../services/contracts/advances/advance-request.contract.ts';
import { errorInfoOf } from '../../../services/platform/rpc/connect-errors.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { verifyFunds } from '../funds/verification/verify-funds.ts';
import { advancesCaller, SOLD } from './advances-caller.ts';

const harness = await startHarness({ SERVICES: 'funds,advances' });
afterAll(() => harness.close());
afterEach(() => verifyFunds(harness));

const reasonsOf = (settled: readonly PromiseSettledResult<unknown>[]) =>
  settled.map((one) => (one.status === 'fulfilled' ? 'STANDS' : errorInfoOf(one.reason)?.reason)).sort();

describe('concurrent calls', () => {
  const merchant = () => advancesCaller(harness.transports.inProcess);

  it('50 requests for the same quote: one succeeds, and the others get its request id', async () => {
    const { funds, client, quote, request } = await merchant();
    const { id, amountMinor } = await quote();
    const all = await Promise.allSettled(Array.from({ length: 50 }, () => request(id)));
    expect(reasonsOf(all)).toEqual([...Array(49).fill('QUOTE_ALREADY_REQUESTED'), 'STANDS']);
    const { advanceRequests } = await client.listAdvanceRequests(funds.tenant);
    expect(advanceRequests).toMatchObject([{ quoteId: id, amountMinor }]);
    const refusals = all.flatMap((one) =>
      one.status === 'rejected' ? [errorInfoOf(one.reason)?.metadata] : [],
    );
    expect(new Set(refusals.map((metadata) => metadata?.advanceRequestId))).toEqual(
      new Set([advanceRequests[0]!.id]),
    );
  });

  it('requests for quotes of the same installments: one succeeds, the others are stale', async () => {
    const { quote, request } = await merchant();
    const quotes = [await quote(), await quote({ maxAmountMinor: 9_600n }), await quote()];
    const all = await Promise.allSettled(quotes.map(({ id }) => request(id)));
    expect(reasonsOf(all)).toEqual(['QUOTE_STALE', 'QUOTE_STALE', 'STANDS']);
  });

  it('opposite decisions: one succeeds, and the installments are paid out or freed', async () => {
    const { funds, quote, request, approve, refuse, release, get } = await merchant();
    const { id } = await request((await quote()).id);
    await approve(id);
    const race = await Promise.allSettled([refuse(id), release(id), refuse(id), release(id)]);
    expect(reasonsOf(race).filter((reason) => reason === 'STANDS').length).toBeGreaterThan(0);
    const { status } = await get(id);
    const left = (await funds.advanceable(SOLD)).installments.length;
    expect([status, left]).toEqual(
      status === AdvanceRequestStatus.REFUSED
        ? [AdvanceRequestStatus.REFUSED, 3]
        : [AdvanceRequestStatus.RELEASED, 0],
    );
  });
});

describe('a quote that failed', () => {
  it('is stale for everyone from then on, and reserves nothing', async () => {
    const { funds, client, quote, request } = await advancesCaller(harness.transports.inProcess);
    const { id } = await quote();
    await funds.deduct(1n);
    const asking = { ...funds.write(SOLD), quoteId: id };
    for (const again of [asking, asking, { ...funds.write(SOLD), quoteId: id }]) {
      await expectRefusal(client.requestAdvance(again), Code.FailedPrecondition, 'QUOTE_STALE');
    }
    expect((await funds.advanceable(SOLD)).installments).toHaveLength(3);
    expect((await request((await quote()).id)).amountMinor).toBe(14_399n);
  });

  it('blocks a delayed reservation after its workflow has given up', async () => {
    const { funds, quote } = await advancesCaller(harness.transports.inProcess);
    await quote();
    const advanceRequestId = randomUUID();
    const { installments } = await funds.advanceable(SOLD);
    await funds.free(advanceRequestId);
    await funds.free(advanceRequestId);
    const late = funds.reserve(installments, advanceRequestId, SOLD);
    await expectRefusal(late, Code.FailedPrecondition, 'RESERVATION_FREED');
    await expectRefusal(funds.settle(advanceRequestId), Code.FailedPrecondition, 'RESERVATION_FREED');
    expect((await funds.advanceable(SOLD)).installments).toHaveLength(3);
  });

  it('a call whose reservation was freed fails too', async () => {
    const { funds, client, quote, request } = await advancesCaller(harness.transports.inProcess);
    const first = await quote();
    const asking = { ...funds.write(SOLD), quoteId: first.id };
    const { advanceRequest } = await client.requestAdvance(asking);
    // As if the call had stopped before its reservation, and the reservation had ended in the meantime.
    await sqlOf(harness, 'delete from advances.request where id = $1', [advanceRequest!.id]);
    await sqlOf(harness, 'delete from platform.idempotency_record');
    await funds.free(advanceRequest!.id);
    await expectRefusal(client.requestAdvance(asking), Code.FailedPrecondition, 'QUOTE_STALE');
    const idempotencyKey = advanceRequestContract.workflowId(advanceRequest!.id);
    const byWorkflow = client.requestAdvance({ ...asking, idempotencyKey });
    await expectRefusal(byWorkflow, Code.FailedPrecondition, 'QUOTE_STALE');
    expect((await client.listAdvanceRequests(funds.tenant)).advanceRequests).toEqual([]);
    expect((await request((await quote()).id)).amountMinor).toBe(14_400n);
  });
});
