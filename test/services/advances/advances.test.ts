import { randomUUID } from 'node:crypto';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { AdvanceRequestStatus, AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import * as advanceRequest from '../../../services/contracts/advances/advance-request.contract.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newWrite, startHarness } from '../../support/harness.ts';
import { openSession, sqlOf } from '../../support/sql.ts';
import { fundsCaller } from '../funds/funds-caller.ts';
import { verifyFunds } from '../funds/verification/verify-funds.ts';
import { advancesCaller, SOLD } from './advances-caller.ts';

const harness = await startHarness({ SERVICES: 'funds,advances' });
afterAll(() => harness.close());
afterEach(() => verifyFunds(harness));

describe('AdvanceService', () => {
  const merchant = () => advancesCaller(harness.transports.inProcess);

  it('quotes 48.00 in 30, 60 and 90 days at 2.5 % a month: 46.80, 45.60 and 44.40', async () => {
    const { quote } = await merchant();
    const quoted = await quote();
    expect(
      quoted.installments.map((installment) => [
        installment.date,
        installment.days,
        installment.amountMinor - installment.feeAmountMinor,
      ]),
    ).toEqual([
      ['2020-07-20', 30, 4680n],
      ['2020-08-19', 60, 4560n],
      ['2020-09-18', 90, 4440n],
    ]);
    const sums = { amountMinor: 14_400n, feeAmountMinor: 720n, netAmountMinor: 13_680n, monthlyRateBps: 250 };
    expect(quoted).toMatchObject(sums);
    expect(timestampDate(quoted.expiresAt!).getTime() - timestampDate(quoted.quotedAt!).getTime()).toBe(
      900_000,
    );
  });

  it('quotes the nearest whole installments within an amount or up to a date, and nothing when none fits', async () => {
    const { quote } = await merchant();
    expect((await quote({ maxAmountMinor: 9_600n })).installments).toHaveLength(2);
    expect((await quote({ maxAmountMinor: 9_599n })).installments).toHaveLength(1);
    expect((await quote({ toDate: '2020-08-19' })).amountMinor).toBe(9_600n);
    const none = quote({ maxAmountMinor: 4_799n });
    await expectRefusal(none, Code.FailedPrecondition, 'NOTHING_TO_ADVANCE');
    await expectRefusal(quote({}, '2020-09-18'), Code.FailedPrecondition, 'NOTHING_TO_ADVANCE');
  });

  it('takes an advance from quote to settlement', async () => {
    const { funds, quote, request, approve, release, settle, get } = await merchant();
    const quoted = await quote({ maxAmountMinor: 9_600n });
    const requested = await request(quoted.id);
    expect(requested).toMatchObject({
      quoteId: quoted.id,
      scheduleId: quoted.scheduleId,
      amountMinor: 9_600n,
      feeAmountMinor: 360n,
      netAmountMinor: 9_240n,
      status: AdvanceRequestStatus.PENDING_REVIEW,
    });
    expect(requested.reviewedAt).toBeUndefined();
    const approved = await approve(requested.id, '2020-06-21', 'fits');
    expect(approved).toMatchObject({ status: AdvanceRequestStatus.APPROVED, reviewReason: 'fits' });
    expect((await funds.rows()).map((row) => row[3])).toEqual([0n, 0n, 0n]);
    const released = await release(requested.id, '2020-06-22');
    expect(released.status).toBe(AdvanceRequestStatus.RELEASED);
    expect(timestampDate(released.releasedAt!)).toEqual(new Date('2020-06-22T15:00:00Z'));
    expect((await funds.rows()).map((row) => row.slice(3, 5))).toEqual([
      [4_800n, 0n],
      [4_800n, 0n],
      [0n, 4_800n],
    ]);
    const early = settle(requested.id, '2020-08-19');
    await expectRefusal(early, Code.FailedPrecondition, 'ADVANCE_NOT_DUE', { lastDate: '2020-08-19' });
    await funds.releaseDue('2020-08-19');
    expect((await funds.rows()).map((row) => row[1])).toEqual(['RELEASED', 'RELEASED', 'SCHEDULED']);
    expect((await settle(requested.id, '2020-08-20')).status).toBe(AdvanceRequestStatus.SETTLED);
    expect((await get(requested.id)).status).toBe(AdvanceRequestStatus.SETTLED);
  });

  it('accepts one request for a quote, in time, and while its installments are as quoted', async () => {
    const { funds, sale, client, quote, request } = await merchant();
    const first = await quote();
    const other = await quote();
    const requested = await request(first.id);
    const twice = request(first.id);
    const taken = { advanceRequestId: requested.id };
    await expectRefusal(twice, Code.FailedPrecondition, 'QUOTE_ALREADY_REQUESTED', taken);
    await expectRefusal(request(other.id), Code.FailedPrecondition, 'QUOTE_STALE');
    await expectRefusal(request(randomUUID()), Code.NotFound, 'QUOTE_NOT_FOUND');
    const late = { ...funds.write(), quoteId: other.id, occurredAt: other.expiresAt };
    await expectRefusal(client.requestAdvance(late), Code.FailedPrecondition, 'QUOTE_EXPIRED');
    expect(sale.installments).toHaveLength(3);
  });

  it('frees the installments of a refused request, for another quote', async () => {
    const { funds, quote, request, approve, refuse } = await merchant();
    const requested = await request((await quote()).id);
    await expectRefusal(quote(), Code.FailedPrecondition, 'NOTHING_TO_ADVANCE');
    await approve(requested.id);
    const refused = await refuse(requested.id);
    expect(refused).toMatchObject({ status: AdvanceRequestStatus.REFUSED, reviewReason: 'not this time' });
    expect((await funds.advanceable(SOLD)).installments).toHaveLength(3);
    expect((await quote()).installments).toHaveLength(3);
    const again = refuse(requested.id);
    await expectRefusal(again, Code.FailedPrecondition, 'ADVANCE_REQUEST_STATE', { status: 'REFUSED' });
  });

  it('starts a workflow with each step across the two areas, which completes it', async () => {
    const { quote, request, approve, release } = await merchant();
    const { id } = await request((await quote()).id);
    await approve(id);
    await release(id);
    const rows = await sqlOf(
      harness,
      'select workflow_id, workflow_type, arguments from platform.outbox_command where workflow_id like $1 order by id',
      [`%${id}`],
    );
    expect(rows).toMatchObject([
      { workflow_id: `advance-request-${id}`, workflow_type: 'completeAdvanceRequest' },
      {
        workflow_id: `advance-release-${id}`,
        workflow_type: 'releaseAdvance',
        arguments: [{ advanceRequestId: id, settlesAt: '2020-09-19T03:00:00.000Z' }],
      },
      { workflow_id: `advance-payout-${id}`, workflow_type: 'payOutAdvance' },
    ]);
  });
});

describe('an advance that failed halfway', () => {
  const seeded = async () => {
    const funds = fundsCaller(harness.transports.inProcess);
    await funds.sell({ on: SOLD, gross: 4_800n });
    const client = createClient(AdvanceService, harness.transports.inProcess);
    const { quote } = await client.quoteAdvance(funds.write(SOLD));
    return { funds, client, quote: quote! };
  };

  /** As after a crash between the reservation and the request's own commit. */
  async function deleteRequest(advanceRequestId: string) {
    await sqlOf(harness, 'delete from advances.request where id = $1', [advanceRequestId]);
    await deleteIdempotencyRecords();
  }
  const deleteIdempotencyRecords = () => sqlOf(harness, 'delete from platform.idempotency_record');

  /** A request that waits between its first step and the reservation, for an account that the session holds in funds. */
  async function requestWaiting(
    session: Awaited<ReturnType<typeof openSession>>,
    { funds, client, quote }: Awaited<ReturnType<typeof seeded>>,
  ) {
    await session.query('begin');
    const hold = 'select from funds.account where merchant_id = $1 for update';
    await session.query(hold, [funds.tenant.merchantId]);
    const late = client.requestAdvance({ ...funds.write(SOLD), quoteId: quote.id });
    late.catch(() => undefined);
    const isTaken = 'select from advances.quote where id = $1 and requested_by is not null';
    await vi.waitFor(async () => expect(await sqlOf(harness, isTaken, [quote.id])).toHaveLength(1), 40_000);
    const commanded = `select arguments -> 0 ->> 'advanceRequestId' as id from platform.outbox_command
      where arguments -> 0 ->> 'quoteId' = $1`;
    const [command] = await sqlOf<{ id: string }>(harness, commanded, [quote.id]);
    return { late, id: command!.id };
  }

  async function approved() {
    const { funds, client, quote } = await seeded();
    const { advanceRequest } = await client.requestAdvance({ ...funds.write(SOLD), quoteId: quote.id });
    const advanceRequestId = advanceRequest!.id;
    await client.approveAdvance({ ...funds.write(SOLD), advanceRequestId });
    return { funds, client, advanceRequestId };
  }

  it('a request with only a reservation is completed only by its caller or its workflow', async () => {
    const { funds, client, quote } = await seeded();
    const asking = { ...funds.write(SOLD), quoteId: quote.id };
    const once = await client.requestAdvance(asking);
    const advanceRequestId = once.advanceRequest!.id;
    await deleteRequest(advanceRequestId);
    const other = client.requestAdvance(newWrite(asking));
    await expectRefusal(other, Code.FailedPrecondition, 'QUOTE_ALREADY_REQUESTED', { advanceRequestId });
    const again = await client.requestAdvance(asking);
    expect(again.advanceRequest).toMatchObject({ id: advanceRequestId, amountMinor: 4_800n });
    await deleteRequest(advanceRequestId);
    const byWorkflow = { ...asking, idempotencyKey: advanceRequest.workflowId(advanceRequestId) };
    expect((await client.requestAdvance(byWorkflow)).advanceRequest?.id).toBe(advanceRequestId);
    await deleteIdempotencyRecords();
    expect((await client.requestAdvance(asking)).advanceRequest?.id).toBe(advanceRequestId);
    // The first attempt's command stays until the workflow has completed its work.
    const starts = 'select workflow_type from platform.outbox_command where workflow_id = $1';
    const workflowId = advanceRequest.workflowId(advanceRequestId);
    expect(await sqlOf(harness, starts, [workflowId])).toHaveLength(1);
  });

  it('a request that its workflow has completed is returned to its first requester, and refused to others', async () => {
    const { funds, client, quote } = await seeded();
    const first = { ...funds.write(SOLD), quoteId: quote.id };
    const taken = await client.requestAdvance(first);
    const advanceRequestId = taken.advanceRequest!.id;
    // As after a crash and the workflow's completion: the request exists, but no record of the first call.
    await sqlOf(harness, 'delete from platform.idempotency_record where key = $1', [first.idempotencyKey]);
    expect(await client.requestAdvance(first)).toEqual(taken);
    expect(await client.requestAdvance(first)).toEqual(taken);
    const other = client.requestAdvance(newWrite(first));
    const known = { advanceRequestId };
    await expectRefusal(other, Code.FailedPrecondition, 'QUOTE_ALREADY_REQUESTED', known);
  });

  it('a request completed after its quote expired fails, and keeps nothing reserved', async () => {
    const { funds, client, quote } = await seeded();
    await using lock = await openSession(harness.databaseUrl);
    const { late, id } = await requestWaiting(lock, { funds, client, quote });
    const idempotencyKey = advanceRequest.workflowId(id);
    const asWorkflow = { ...funds.write(), idempotencyKey, quoteId: quote.id };
    await expectRefusal(client.requestAdvance(asWorkflow), Code.FailedPrecondition, 'QUOTE_EXPIRED');
    await lock.query('commit');
    await expectRefusal(late, Code.FailedPrecondition, 'QUOTE_EXPIRED');
    expect((await client.listAdvanceRequests(funds.tenant)).advanceRequests).toEqual([]);
    expect((await funds.advanceable(SOLD)).installments).toHaveLength(1);
  });

  it('a request that was created and refused while its call waited is returned in its current state', async () => {
    const { funds, client, quote } = await seeded();
    await using lock = await openSession(harness.databaseUrl);
    const { late, id } = await requestWaiting(lock, { funds, client, quote });
    // As its workflow and a reviewer leave it.
    const refused = `insert into advances.request
        (merchant_id, environment, id, quote_id, schedule_id, amount_minor, fee_minor, net_minor, status, requested_at,
         reviewed_at, first_date, last_date)
      select merchant_id, environment, $2, id, schedule_id, amount_minor, fee_minor, net_minor, 'REFUSED', quoted_at,
             quoted_at, '2020-07-20', '2020-07-20' from advances.quote where id = $1`;
    const freed = `insert into funds.reservation
        (merchant_id, environment, advance_request_id, state, amount_minor, first_date, last_date)
      select merchant_id, environment, $2, 'FREED', amount_minor, '2020-07-20', '2020-07-20'
        from advances.quote where id = $1`;
    for (const sql of [refused, freed]) await lock.query(sql, [quote.id, id]);
    await lock.query('commit');
    expect((await late).advanceRequest?.status).toBe(AdvanceRequestStatus.REFUSED);
    const other = client.requestAdvance({ ...funds.write(SOLD), quoteId: quote.id });
    await expectRefusal(other, Code.FailedPrecondition, 'QUOTE_ALREADY_REQUESTED');
    expect((await funds.advanceable(SOLD)).installments).toHaveLength(1);
  });

  it('a payout that its workflow has completed is returned to the caller who started it, and refused to others', async () => {
    const { funds, client, advanceRequestId } = await approved();
    const first = { ...funds.write(SOLD), advanceRequestId };
    const paid = await client.releaseAdvance(first);
    // As after a crash and the workflow's completion: the payout is done, but there is no record of the first call.
    await sqlOf(harness, 'delete from platform.idempotency_record where key = $1', [first.idempotencyKey]);
    expect(await client.releaseAdvance(first)).toEqual(paid);
    const other = client.releaseAdvance(newWrite(first));
    await expectRefusal(other, Code.FailedPrecondition, 'ADVANCE_REQUEST_STATE', { status: 'RELEASED' });
    expect(await funds.rows()).toEqual([['2020-07-20', 'SCHEDULED', 0n, 4_800n, 0n, 1]]);
  });

  it('a payout that had only started is completed by repeating the call, even after the covered date', async () => {
    const { funds, client, advanceRequestId } = await approved();
    const start = 'update advances.request set release_started_at = $2 where id = $1';
    await sqlOf(harness, start, [advanceRequestId, '2020-06-22T15:00:00Z']);
    const refused = client.refuseAdvance({ ...funds.write(), advanceRequestId, reason: 'late' });
    const started = { status: 'APPROVED', releaseStarted: 'true' };
    await expectRefusal(refused, Code.FailedPrecondition, 'ADVANCE_REQUEST_STATE', started);
    const released = await client.releaseAdvance({ ...newWrite(funds.tenant), advanceRequestId });
    expect(released.advanceRequest).toMatchObject({
      status: AdvanceRequestStatus.RELEASED,
      releasedAt: timestampFromDate(new Date('2020-06-22T15:00:00Z')),
    });
    expect(await funds.rows()).toEqual([['2020-07-20', 'SCHEDULED', 0n, 4_800n, 0n, 1]]);
  });
});

it('a release succeeds although the clock of the process that approved the request is ahead', async () => {
  const { request, quote, approve, release } = await advancesCaller(harness.transports.inProcess);
  const { id } = await request((await quote()).id);
  await approve(id);
  const ahead = new Date('2020-06-20T18:00:00Z');
  await sqlOf(harness, 'update advances.request set reviewed_at = $2 where id = $1', [id, ahead]);
  const { status, releasedAt } = await release(id);
  expect([status, releasedAt]).toEqual([AdvanceRequestStatus.RELEASED, timestampFromDate(ahead)]);
});
