import { Code, createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import {
  BlockReason,
  FundsService,
  RefundDebitState,
} from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment, type RecordPosition } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseScope, RefundCaseService } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';

/** More than two pages. */
const RECORDS = 1_100;

const live = newTenant();
const test = { ...newTenant(), environment: Environment.TEST };

const harness = await startHarness({ SERVICES: 'funds,refunds,advances' });
const debit = `insert into funds.refund_debit
  select $1, $2, gen_random_uuid(), null, n, now(), case when n > $3 then now() end from generate_series(1, $3 + 10) n`;
await sqlOf(harness, debit, [live.merchantId, 'live', RECORDS]);
await sqlOf(harness, debit, [test.merchantId, 'test', 3]);
// Each source blocks two sales, so that a page could end between them.
const block = `insert into funds.block
  select $1, 'live', gen_random_uuid(), gen_random_uuid(), $2, md5((n % 551)::text)::uuid, n, now(), null, null
    from generate_series(1, $3) n`;
await sqlOf(harness, block, [live.merchantId, 'COMPLIANCE_HOLD', RECORDS]);
await sqlOf(harness, block, [live.merchantId, 'KYC_PENDING', 1]);
const lost = `insert into funds.block
  select $1, 'live', gen_random_uuid(), gen_random_uuid(), 'HOLD_OR_DISPUTE', md5((n % 551)::text)::uuid, n, now(), now(),
         'CONSUMED' from generate_series(1, $2) n`;
await sqlOf(harness, lost, [live.merchantId, RECORDS]);
afterAll(() => harness.close());

/** Reads all pages. */
async function readAll<Page extends { next?: RecordPosition }>(
  read: (position: { after?: RecordPosition }) => Promise<Page>,
): Promise<Page[]> {
  const pages: Page[] = [];
  for (let after: RecordPosition | undefined; ; ) {
    const page = await read({ ...(after && { after }) });
    pages.push(page);
    after = page.next;
    if (after === undefined) return pages;
  }
}

const debits = (request: { merchantId?: string; environment?: Environment }) => {
  const client = createClient(FundsService, harness.transports.inProcess);
  return readAll((position) =>
    client.scanRefundDebits({ ...request, ...position, state: RefundDebitState.DEBITED }),
  );
};

describe('a scan', () => {
  it('reads every record of all merchants once, in the order of their keys', async () => {
    const pages = await debits({});
    const keys = pages.flatMap((page) => page.debits.map((debit) => debit.merchantId + debit.refundCaseId));
    expect(pages.length).toBe(3);
    expect(keys).toHaveLength(RECORDS + 3);
    expect(keys).toEqual([...new Set(keys)].sort());
  });

  it('is limited to one merchant', async () => {
    const [page, ...more] = await debits(test);
    expect(page!.debits.map(({ amountMinor }) => amountMinor).sort()).toEqual([1n, 2n, 3n]);
    expect(more).toEqual([]);
    expect((await debits(live)).flatMap((each) => each.debits)).toHaveLength(RECORDS);
  });

  it('is limited to one id of a merchant', async () => {
    const { scanRefundDebits } = createClient(FundsService, harness.transports.inProcess);
    const state = RefundDebitState.DEBITED;
    const [first, second] = (await scanRefundDebits({ ...test, state })).debits;
    const id = second!.refundCaseId;
    const found = await scanRefundDebits({ ...test, state, id });
    expect(found.debits).toMatchObject([{ refundCaseId: id }]);
    expect(found.next).toBeUndefined();
    expect((await scanRefundDebits({ ...live, state, id: first!.refundCaseId })).debits).toEqual([]);
    const refusal = [Code.InvalidArgument, 'INVALID_ARGUMENT', { field: 'id' }] as const;
    await expectRefusal(scanRefundDebits({ state, id }), ...refusal);
  });

  it('keeps the records of one position on one page', async () => {
    const client = createClient(FundsService, harness.transports.inProcess);
    const pages = await readAll((position) =>
      client.scanOpenBlocks({ ...position, reason: BlockReason.COMPLIANCE_HOLD }),
    );
    const sources = pages.map(({ blocks }) => new Set(blocks.map(({ sourceId }) => sourceId)));
    expect(pages.flatMap(({ blocks }) => blocks)).toHaveLength(RECORDS);
    expect(pages.length).toBeGreaterThan(1);
    expect(sources.reduce((count, { size }) => count + size, 0)).toBe(551);
  });

  it('of deductions reads every source, also if several of its blocks were lost', async () => {
    const client = createClient(FundsService, harness.transports.inProcess);
    const pages = await readAll((position) => client.scanDeductions(position));
    const sources = pages.flatMap(({ deductions }) => deductions.map(({ sourceId }) => sourceId));
    expect(sources).toHaveLength(551);
    expect(sources).toEqual([...new Set(sources)].sort());
  });

  it('of all merchants requires the grant operations', async () => {
    const grants = new Set(['funds:read', 'refunds:read', 'advances:read']);
    const transport = harness.services.transportFor({ name: 'reader', grants });
    const [funds, refunds, advances] = [
      createClient(FundsService, transport),
      createClient(RefundCaseService, transport),
      createClient(AdvanceService, transport),
    ];
    const reason = BlockReason.KYC_PENDING;
    const state = RefundDebitState.PENDING;
    for (const call of [
      () => funds.scanRefundDebits({ state }),
      () => funds.scanOpenBlocks({ reason }),
      () => funds.scanDeductions({}),
      () => funds.scanReservations({}),
      () => refunds.scanRefundCases({ scope: RefundCaseScope.OPEN }),
      () => refunds.scanDisputes({}),
      () => advances.scanAdvanceRequests({}),
    ]) {
      await expectRefusal(call(), Code.PermissionDenied, 'GRANT_MISSING', { grant: 'operations' });
    }
    expect((await funds.scanOpenBlocks({ ...live, reason })).blocks).toHaveLength(1);
  });
});
