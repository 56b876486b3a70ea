import { randomUUID } from 'node:crypto';
import { Code, createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { ProductService, ProductType } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { minutesAgo } from '../../../support/ago.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { startHarness } from '../../../support/harness.ts';
import { refundsOf } from '../refund-case-fixture.ts';

const harness = await startHarness({ SERVICES: 'refunds,catalog' });
afterAll(() => harness.close());

const paidAt = minutesAgo(1);

describe('the refund window of a product', () => {
  const productOf = async ({ write }: ReturnType<typeof refundsOf>, refundWindowDays: number) => {
    const products = createClient(ProductService, harness.transports.inProcess);
    const productType = ProductType.ONE_TIME;
    const { product } = await products.createProduct({
      ...write(),
      name: 'Shoes',
      productType,
      refundWindowDays,
    });
    return { case: 'productId', value: product!.id } as const;
  };

  it('is taken from the catalog for a payment’s first case and applies to later ones', async () => {
    const merchant = refundsOf(harness);
    const window = await productOf(merchant, 17);
    const paymentIntentId = randomUUID();
    const first = await merchant.open({ paymentIntentId, paidAt, window });
    expect(first.refundWindow?.days).toBe(17);
    const upper = { case: 'productId', value: window.value.toUpperCase() } as const;
    const second = await merchant.open({ paymentIntentId, paidAt, window: upper });
    expect(second.refundWindow).toEqual(first.refundWindow);
    const other = merchant.open({ paymentIntentId, paidAt, window: await productOf(merchant, 17) });
    await expectRefusal(other, Code.FailedPrecondition, 'PAYMENT_FACTS_DIFFER', { fact: 'productId' });
  });

  it("is not taken from another merchant's product", async () => {
    const window = await productOf(refundsOf(harness), 17);
    const opening = refundsOf(harness).open({ paidAt, window });
    await expectRefusal(opening, Code.NotFound, 'PRODUCT_NOT_FOUND');
  });
});
