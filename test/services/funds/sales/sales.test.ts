import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import {
  BlockReason,
  FundsReleaseStatus,
  SaleMethod,
  SaleStatus,
} from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { startHarness } from '../../../support/harness.ts';
import { fundsCaller } from '../funds-caller.ts';

const ON = '2020-06-20';
const sold = () => ({
  orderId: randomUUID(),
  orderNumber: 'R-10482',
  productId: randomUUID(),
  customerReference: 'customer 7',
});

const harness = await startHarness({ SERVICES: 'funds' });
afterAll(() => harness.close());

describe('a sale', () => {
  const newFunds = () => fundsCaller(harness.transports.grpc);

  it('keeps what was sold, whether it is recorded with others or by itself', async () => {
    const { client, tenant, sell, block } = newFunds();
    const held = randomUUID();
    const sourceId = randomUUID();
    await block(held, sourceId, BlockReason.HOLD_OR_DISPUTE, ON);
    const all = [
      { saleId: randomUUID(), of: {} },
      { saleId: randomUUID(), of: sold() },
      { saleId: held, of: sold() },
    ];
    await Promise.all(all.map(({ saleId, of }) => sell({ on: ON, gross: 900n, fees: 9n, saleId, sold: of })));
    for (const { saleId, of } of all) {
      const { sale, installments } = await client.getSale({ ...tenant, saleId: saleId.toUpperCase() });
      const amounts = { grossAmountMinor: 900n, feesAmountMinor: 9n, originalAmountMinor: 891n };
      const facts = { id: saleId, method: SaleMethod.CARD, installments: 1, ...amounts, ...of };
      expect(sale).toMatchObject(facts);
      expect(sale!.orderNumber).toBe('orderNumber' in of ? of.orderNumber : undefined);
      const blocks = saleId === held ? [{ reason: BlockReason.HOLD_OR_DISPUTE, sourceId }] : [];
      expect(installments).toMatchObject([{ number: 1, part: 1, date: '2020-07-20', ...amounts, blocks }]);
    }
    const { tenant: stranger } = newFunds();
    const notTheirs = client.getSale({ ...stranger, saleId: held });
    await expectRefusal(notTheirs, Code.NotFound, 'SALE_NOT_FOUND');
  });

  it('keeps references without spaces at their ends, and is found with and without them', async () => {
    const { client, tenant, sell } = newFunds();
    const { saleId } = await sell({
      gross: 900n,
      sold: { orderNumber: ' R 10482\u00a0', customerReference: '\tMaria da Silva ' },
    });
    const { saleId: unnamed } = await sell({
      gross: 900n,
      sold: { orderNumber: ' ', customerReference: ' ' },
    });
    for (const filter of [
      { orderNumber: 'R 10482' },
      { orderNumber: ' R 10482 ' },
      { customerReference: 'Maria da Silva' },
      { customerReference: ' Maria da Silva' },
    ]) {
      const { sales } = await client.listSales({ ...tenant, ...filter });
      expect(sales.map(({ id }) => id)).toEqual([saleId]);
    }
    const { sale } = await client.getSale({ ...tenant, saleId: unnamed });
    expect([sale!.orderNumber, sale!.customerReference]).toEqual([undefined, undefined]);
  });

  it('is another request under the same key when anything that was sold differs', async () => {
    const { client, write } = newFunds();
    const of = sold();
    const sale = { saleId: randomUUID(), method: 2, grossAmountMinor: 7n, installments: 1 };
    const request = { ...write(ON), ...sale, ...of };
    const recorded = await client.recordSale(request);
    expect(await client.recordSale(request)).toEqual(recorded);
    for (const name of Object.keys(of)) {
      const other = client.recordSale({ ...request, [name]: randomUUID() });
      await expectRefusal(other, Code.AlreadyExists, 'IDEMPOTENCY_KEY_REUSED');
    }
    for (const wrong of [{ orderNumber: 'R'.repeat(101) }, { customerReference: '' }, { orderId: 'R-1' }]) {
      const invalid = client.recordSale({ ...request, ...write(ON), ...wrong });
      await expectRefusal(invalid, Code.InvalidArgument, 'INVALID_ARGUMENT');
    }
  });

  it('has the status of its funds, and is behind the rows that they are in', async () => {
    const { client, tenant, sell, block, unblock, releaseDue, deduct } = newFunds();
    const { saleId } = await sell({ on: ON, gross: 1_000n, fees: 100n, installments: 2 });
    const status = async () => {
      const { sale } = await client.getSale({ ...tenant, saleId });
      const { sales } = await client.listSales({ ...tenant, status: sale!.status });
      expect(sales).toEqual([sale]);
      return SaleStatus[sale!.status];
    };
    const dispute = randomUUID();
    expect(await status()).toBe('SCHEDULED');
    await releaseDue('2020-07-20');
    expect(await status()).toBe('PARTIALLY_RELEASED');
    await deduct(50n, saleId, ON);
    await block(saleId, dispute, BlockReason.HOLD_OR_DISPUTE, ON, 120n);
    expect(await status()).toBe('BLOCKED');
    const onDay = { ...tenant, date: '2020-08-19' };
    const { BLOCKED, SCHEDULED } = FundsReleaseStatus;
    const of = async (row: { status?: FundsReleaseStatus }) =>
      (await client.listReleaseSales({ ...onDay, ...row })).sales;
    const blocked = {
      installment: 2,
      blockedAmountMinor: 120n,
      blockedReasons: [BlockReason.HOLD_OR_DISPUTE],
    };
    expect(await of({ status: BLOCKED })).toMatchObject([
      { ...blocked, sale: { id: saleId, blockedAmountMinor: 120n }, scheduledAmountMinor: 0n },
    ]);
    expect(await of({ status: SCHEDULED })).toMatchObject([
      { blockedAmountMinor: 0n, blockedReasons: [], scheduledAmountMinor: 330n },
    ]);
    expect(await of({})).toMatchObject([
      {
        ...blocked,
        originalAmountMinor: 450n,
        scheduledAmountMinor: 330n,
        sale: { deductionsAmountMinor: 50n },
      },
    ]);
    await releaseDue('2020-08-19');
    await unblock(saleId, dispute);
    expect(await status()).toBe('RELEASED');
  });
});
