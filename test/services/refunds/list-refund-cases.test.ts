import { randomUUID } from 'node:crypto';
import { timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ApprovalMode,
  type RefundCase,
  RefundCaseStatus,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHouse, type TestHouse } from '../../support/house.ts';
import { queryHouse, refundsOf, type Way } from './refund-case-fixture.ts';

const CASES = 36;
const ORDERS = [randomUUID(), randomUUID()];
const PAYMENTS = [randomUUID(), randomUUID(), randomUUID()];
const START_MS = Date.now() - 3_600_000;

let house: TestHouse;
let cases: RefundCase[];
let merchant: ReturnType<typeof refundsOf>;
const statements: string[] = [];

beforeAll(async () => {
  house = await startHouse({ SERVICES: 'refunds' }, (sql) => statements.push(sql));
  merchant = refundsOf(house);
  cases = await openMany(merchant);
  await openMany(refundsOf(house));
});
afterAll(() => house.close());

/** Cases of every filter's values, several of them in the same millisecond. */
async function openMany({ refunds, write, open }: typeof merchant): Promise<RefundCase[]> {
  const paidAt = timestampFromDate(new Date(START_MS - 1_000));
  for (let n = 0; n < CASES; n += 1) {
    const { id } = await open({
      amountMinor: 1n,
      paymentIntentId: PAYMENTS[n % 3]!,
      paidAt,
      orderId: ORDERS[n % 3],
      initiator: n % 2 ? RefundInitiator.CUSTOMER : RefundInitiator.MERCHANT,
      approvalMode: n % 5 ? undefined : ApprovalMode.INSTANT,
      occurredAt: timestampFromDate(new Date(START_MS + Math.floor(n / 4))),
    });
    if (n % 7 === 0) await refunds.cancelRefundCase({ ...write(), refundCaseId: id });
  }
  const all: RefundCase[] = [];
  for (const refundCaseId of await idsOf(write())) {
    const { refundCase } = await refunds.getRefundCase({ ...write(), refundCaseId });
    all.push(refundCase!);
  }
  return all.sort(newestFirst);
}

function newestFirst(a: RefundCase, b: RefundCase): number {
  return timestampMs(b.requestedAt!) - timestampMs(a.requestedAt!) || (a.id < b.id ? 1 : -1);
}

async function idsOf({ merchantId }: { merchantId: string }): Promise<string[]> {
  const rows = await queryHouse<{ id: string }>(
    house,
    'select id from refunds.refund_case where merchant_id = $1',
    [merchantId],
  );
  return rows.map(({ id }) => id);
}

const filter = fc.record(
  {
    initiator: fc.constantFrom(RefundInitiator.CUSTOMER, RefundInitiator.MERCHANT),
    orderId: fc.constantFrom(...ORDERS, ORDERS[0]!.toUpperCase(), randomUUID()),
    paymentIntentId: fc.constantFrom(...PAYMENTS, randomUUID()),
    status: fc.constantFrom(
      RefundCaseStatus.MERCHANT_REVIEW,
      RefundCaseStatus.APPROVED_FOR_EXECUTION,
      RefundCaseStatus.CANCELED,
      RefundCaseStatus.FAILED,
    ),
  },
  { requiredKeys: [] },
);

describe.each(['inProcess', 'grpc'] as const)('ListRefundCases over %s', (way: Way) => {
  const client = () => refundsOf(house, way, merchant.tenant).refunds;

  it('pages through exactly the cases that fit, newest first, whatever filters and page sizes', async () => {
    await fc.assert(
      fc.asyncProperty(
        filter,
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }),
        async (fits, sizes) => {
          const { tenant } = merchant;
          const found: RefundCase[] = [];
          let pageToken = '';
          for (let page = 0; page === 0 || pageToken !== ''; page += 1) {
            const pageSize = sizes[page % sizes.length]!;
            const answer = await client().listRefundCases({ ...tenant, ...fits, pageSize, pageToken });
            expect(answer.refundCases.length).toBeLessThanOrEqual(pageSize);
            expect(answer.nextPageToken.length).toBeLessThanOrEqual(200);
            found.push(...answer.refundCases);
            pageToken = answer.nextPageToken;
          }
          const expected = cases.filter(
            (one) =>
              (fits.initiator === undefined || one.initiator === fits.initiator) &&
              (fits.orderId === undefined || one.orderId === fits.orderId.toLowerCase()) &&
              (fits.paymentIntentId === undefined || one.paymentIntentId === fits.paymentIntentId) &&
              (fits.status === undefined || one.status === fits.status),
          );
          expect(found).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('refuses a token cut from other filters, another merchant, or changed', async () => {
    const { tenant } = merchant;
    const { nextPageToken: pageToken } = await client().listRefundCases({ ...tenant, pageSize: 1 });
    const status = RefundCaseStatus.CANCELED;
    const changed = `${pageToken.startsWith('A') ? 'B' : 'A'}${pageToken.slice(1)}`;
    const asked = [
      { ...tenant, status, pageToken },
      { ...tenant, merchantId: randomUUID(), pageToken },
      { ...tenant, pageToken: changed },
    ];
    for (const request of asked) {
      await expectRefusal(client().listRefundCases(request), Code.InvalidArgument, 'INVALID_PAGE_TOKEN');
    }
    expect((await client().listRefundCases({ ...tenant, pageToken, pageSize: 3 })).refundCases).toEqual(
      cases.slice(1, 4),
    );
  });

  it('keeps its place when the case it was cut at changes', async () => {
    const { refunds, write, open } = refundsOf(house, way);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      ids.unshift((await open({ occurredAt: timestampFromDate(new Date(START_MS + n)) })).id);
    }
    const scope = write();
    const status = RefundCaseStatus.MERCHANT_REVIEW;
    const first = await refunds.listRefundCases({ ...scope, status, pageSize: 1 });
    expect(first.refundCases.map(({ id }) => id)).toEqual([ids[0]]);
    await refunds.cancelRefundCase({ ...write(), refundCaseId: ids[0]! });
    await open();
    const rest = await refunds.listRefundCases({ ...scope, status, pageToken: first.nextPageToken });
    expect(rest.refundCases.map(({ id }) => id)).toEqual(ids.slice(1));
  });

  it('asks the database once', async () => {
    statements.length = 0;
    await client().listRefundCases({ ...merchant.tenant, status: RefundCaseStatus.CANCELED });
    expect(statements).toHaveLength(1);
  });
});

describe('the list at scale', () => {
  // A test's table is so small that reading it whole and sorting it is cheapest: of a large one, neither is an option.
  beforeAll(async () => {
    await queryHouse(
      house,
      `do $$ begin
         execute format('alter database %I set enable_seqscan = off', current_database());
         execute format('alter database %I set enable_bitmapscan = off', current_database());
         execute format('alter database %I set enable_sort = off', current_database());
       end $$`,
    );
    await queryHouse(house, 'analyze refunds.refund_case');
  });

  it.each([
    ['', 'refund_case_newest'],
    [`and status = 'FAILED'`, 'refund_case_status'],
    [`and initiator = 'MERCHANT'`, 'refund_case_initiator'],
    [`and order_id = '${ORDERS[0]}'`, 'refund_case_order'],
    [`and payment_intent_id = '${PAYMENTS[0]}'`, 'refund_case_payment'],
  ])('reads a page filtered by "%s" off an index that is in its order', async (condition, index) => {
    const rows = await queryHouse<{ 'QUERY PLAN': string }>(
      house,
      `explain select * from refunds.refund_case where merchant_id = $1 and environment = 'live' ${condition}
        and (requested_at, id) < (now(), $2::uuid) order by requested_at desc, id desc limit 51`,
      [merchant.tenant.merchantId, randomUUID()],
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain(index);
    expect(plan).not.toContain('Sort');
  });
});
