import { randomUUID } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import {
  DisputeOrder,
  DisputeOutcome,
  DisputeStatus,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { hoursAgo } from '../../../support/ago.ts';
import { copyRows } from '../../../support/copy-rows.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant } from '../../../support/harness.ts';
import { describeList, describePlans, sharedListHarness } from '../../../support/list-suite.ts';
import { planOf } from '../../../support/list-walk.ts';
import { sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../../funds/funds-caller.ts';
import { awaitingDisputeList } from '../queues/awaiting-dispute-list.ts';
import { refundsOf } from '../refund-case-fixture.ts';
import { disputeList } from './dispute-list.ts';

const { harness, statements } = sharedListHarness('refunds,funds');

it('reads only the disputes of the merchant by due date where most are of another', async () => {
  const { refunds, write } = refundsOf(harness());
  const disputeId = randomUUID();
  const dueAt = timestampFromDate(new Date(Date.now() + DAY_MS));
  await refunds.openDispute({ ...write(), disputeId, paymentIntentId: randomUUID(), dueAt });
  await copyRows(harness(), 'refunds.dispute', ['id', disputeId], 5_000);
  await sqlOf(harness(), 'analyze refunds.dispute');
  statements.length = 0;
  await refunds.listDisputes({ ...newTenant(), order: DisputeOrder.DUE_DATE });
  const plan = await planOf(harness(), statements.at(-1)!);
  expect(plan).toContain('using dispute_awaiting ');
  expect(plan).toContain('using dispute_awaiting_undated ');
});

describe('ListDisputes', () => {
  describeList('pages', () => disputeList(harness()));
});

describeList('ListDisputes by the due date', () => awaitingDisputeList(harness()));

describePlans(
  () => awaitingDisputeList(harness()),
  statements,
  [
    ['', 'dispute_awaiting'],
    ['', 'dispute_awaiting_undated'],
  ],
  'refunds.dispute',
);

it('reads no overdue disputes by due date, and none at all for open ones with an outcome', async () => {
  const { refunds, tenant } = refundsOf(harness());
  const planFor = async (request: object) => {
    statements.length = 0;
    expect((await refunds.listDisputes({ ...tenant, ...request })).disputes).toEqual([]);
    return planOf(harness(), statements.at(-1)!);
  };
  const awaiting = await planFor({ order: DisputeOrder.DUE_DATE });
  expect(awaiting).toMatch(/using dispute_awaiting .*\n +Index Cond: .*COALESCE\(due_at, opened_at\) > \$/);
  const outcome = DisputeOutcome.WON;
  for (const filter of [{ status: DisputeStatus.OPEN }, { order: DisputeOrder.DUE_DATE }]) {
    expect(await planFor({ ...filter, outcome })).toMatch(/One-Time Filter: false/);
  }
});

describePlans(
  () => disputeList(harness()),
  statements,
  [
    ['', 'dispute_newest'],
    ['paymentIntentId', 'dispute_payment'],
    ['status', 'dispute_open'],
    ['outcome', 'dispute_outcome'],
  ],
  'refunds.dispute',
);

it('lists the disputes of sales, newest first', async () => {
  const { refunds, tenant, write } = refundsOf(harness());
  const [saleId, otherSaleId] = [randomUUID(), randomUUID()];
  const open = async (named: string | undefined, hours: number) => {
    const occurredAt = hoursAgo(hours);
    const opening = { disputeId: randomUUID(), paymentIntentId: randomUUID(), saleId: named, occurredAt };
    return (await refunds.openDispute({ ...write(), ...opening })).dispute!.id;
  };
  const first = await open(saleId, 3);
  const second = await open(saleId, 2);
  await open(undefined, 1);
  const other = await open(otherSaleId, 1);
  const list = async (saleIds: string[], page: object = {}) =>
    refunds.listDisputes({ ...tenant, saleIds, ...page });
  const ids = async (saleIds: string[]) => (await list(saleIds)).disputes.map(({ id }) => id);
  expect(await ids([saleId.toUpperCase()])).toEqual([second, first]);
  expect(await ids([saleId, otherSaleId])).toEqual([other, second, first]);
  expect(await ids([randomUUID()])).toEqual([]);
  const { nextPageToken: pageToken } = await list([saleId], { pageSize: 1 });
  expect((await list([saleId], { pageToken })).disputes.map(({ id }) => id)).toEqual([first]);
  await expectRefusal(list([otherSaleId], { pageToken }), Code.InvalidArgument, 'INVALID_PAGE_TOKEN');
});

it('lists and adds up the disputes of a range of dates in Brasília, with what they have deducted less what was returned', async () => {
  const { refunds, tenant, write } = refundsOf(harness());
  const { client: funds, write: post } = fundsCaller(harness().transports.inProcess, tenant);
  const open = async (at: string, terms: object = {}) => {
    const ids = { disputeId: randomUUID(), paymentIntentId: randomUUID() };
    const occurredAt = timestampFromDate(new Date(at));
    return (await refunds.openDispute({ ...write(), ...ids, occurredAt, ...terms })).dispute!.id;
  };
  const lose = async (disputeId: string, amountMinor: bigint) => {
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    await funds.applyDeduction({ ...post(), sourceId: disputeId, amountMinor });
  };
  const before = await open('2026-06-01T02:59:59Z', { amountMinor: 1n });
  const first = await open('2026-06-01T03:00:00Z', { amountMinor: 20n });
  const won = await open('2026-06-15T12:00:00Z', { amountMinor: 300n });
  const reversed = await open('2026-06-16T12:00:00Z', { amountMinor: 4_000n });
  const restOfSale = await open('2026-07-01T02:59:59Z', { saleId: randomUUID() });
  const after = await open('2026-07-01T03:00:00Z', { amountMinor: 50_000n });
  await refunds.closeDispute({ ...write(), disputeId: won, outcome: DisputeOutcome.WON });
  for (const [id, amountMinor] of [
    [before, 1n],
    [first, 20n],
    [reversed, 4_000n],
  ] as const) {
    await lose(id, amountMinor);
  }
  await refunds.reverseDispute({ ...write(), disputeId: reversed });
  await funds.reverseDeduction({ ...post(), sourceId: reversed });

  const june = { ...tenant, fromDate: '2026-06-01', toDate: '2026-06-30' };
  statements.length = 0;
  const { disputes } = await refunds.listDisputes(june);
  expect(disputes.map(({ id }) => id)).toEqual([restOfSale, reversed, won, first]);
  const plan = await planOf(harness(), statements.find((sql) => sql.includes('opened_at" >='))!);
  expect(plan).toMatch(/using dispute_newest /);
  expect(plan).not.toMatch(/\bSort {2}\(/);

  const { totals } = await refunds.listDisputes({ ...june, pageSize: 1, includeTotals: true });
  expect(totals.map(({ $typeName, ...total }) => total)).toEqual([
    { outcome: DisputeOutcome.UNSPECIFIED, count: 1n, amountMinor: 0n, deductedAmountMinor: 0n },
    { outcome: DisputeOutcome.WON, count: 1n, amountMinor: 300n, deductedAmountMinor: 0n },
    { outcome: DisputeOutcome.LOST, count: 1n, amountMinor: 20n, deductedAmountMinor: 20n },
    { outcome: DisputeOutcome.REVERSED, count: 1n, amountMinor: 4_000n, deductedAmountMinor: 0n },
  ]);
  const ofStatus = { ...tenant, status: DisputeStatus.OPEN, includeTotals: true };
  expect((await refunds.listDisputes(ofStatus)).totals.map(({ count }) => count)).toEqual([2n]);
  expect((await refunds.listDisputes({ ...tenant, fromDate: '2026-07-01' })).disputes[0]!.id).toBe(after);

  const lost = { outcome: DisputeOutcome.LOST, includeDeductions: true };
  const exported = await Array.fromAsync(refunds.exportDisputes({ ...tenant, ...lost }));
  expect(exported.flatMap((part) => part.disputes.map(({ id }) => id))).toEqual([first, before]);
  expect(exported.map(({ deductedAmountsMinor }) => deductedAmountsMinor)).toEqual([
    { [first]: 20n, [before]: 1n },
  ]);
});

it('returns each dispute like GetDispute', async () => {
  const { refunds, tenant, write, open } = refundsOf(harness(), 'grpc');
  const { paymentIntentId } = await open({ saleId: randomUUID() });
  const ids = [randomUUID(), randomUUID()];
  for (const disputeId of ids) await refunds.openDispute({ ...write(), disputeId, paymentIntentId });
  const outcome = DisputeOutcome.LOST;
  await refunds.closeDispute({ ...write(), disputeId: ids[0]!, outcome });
  const { disputes } = await refunds.listDisputes(tenant);
  expect(disputes.map(({ id }) => id).sort()).toEqual(ids.sort());
  for (const listed of disputes) {
    expect(listed).toEqual((await refunds.getDispute({ ...tenant, disputeId: listed.id })).dispute);
  }
});
