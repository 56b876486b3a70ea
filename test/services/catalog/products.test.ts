import { Code, createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import {
  PaymentMethod,
  PriceInterval,
  PriceType,
  ProductService,
  ProductStatus,
  ProductType,
} from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant, newWrite, startHarness, type TestTenant } from '../../support/harness.ts';

const harness = await startHarness({ SERVICES: 'catalog' });
afterAll(() => harness.close());

describe('ProductService', () => {
  const client = () => createClient(ProductService, harness.transports.inProcess);
  const draft = (tenant: TestTenant) =>
    client().createProduct({
      ...newWrite(tenant),
      name: 'Monthly plan',
      productType: ProductType.SUBSCRIPTION,
      refundWindowDays: 30,
    });
  const price = (tenant: TestTenant, productId: string) =>
    client().createPrice({
      ...newWrite(tenant),
      productId,
      amountMinor: 9_007_199_254_740_991n,
      type: PriceType.RECURRING,
      interval: PriceInterval.MONTH,
      intervalCount: 1,
      maxInstallments: 12,
    });

  it('returns a product with its current prices and offers, with exact amounts up to the upper bound', async () => {
    const tenant = newTenant();
    const { product } = await draft(tenant);
    const created = await price(tenant, product!.id);
    const { offer } = await client().createOffer({
      ...newWrite(tenant),
      priceId: created.price!.id,
      name: 'Launch',
      checkoutUrl: 'https://shop.example/launch',
      paymentMethods: [PaymentMethod.CARD, PaymentMethod.INSTANT_TRANSFER],
      maxInstallments: 6,
    });
    const got = await client().getProduct({ ...tenant, productId: product!.id });
    expect(got.product).toMatchObject({
      name: 'Monthly plan',
      status: ProductStatus.DRAFT,
      refundWindowDays: 30,
    });
    expect(got.product?.prices).toMatchObject([
      { id: created.price!.id, amountMinor: 9_007_199_254_740_991n, interval: PriceInterval.MONTH },
    ]);
    expect(got.product?.offers).toMatchObject([
      { id: offer!.id, priceId: created.price!.id, maxInstallments: 6 },
    ]);
  });

  it('activates a product only with a current price, and archives it only when active', async () => {
    const tenant = newTenant();
    const { product } = await draft(tenant);
    const productId = product!.id;
    const activate = () => client().activateProduct({ ...newWrite(tenant), productId });
    const archive = () => client().archiveProduct({ ...newWrite(tenant), productId });
    await expectRefusal(activate(), Code.FailedPrecondition, 'PRODUCT_WITHOUT_PRICE', { state: 'DRAFT' });
    await price(tenant, productId);
    await expectRefusal(archive(), Code.FailedPrecondition, 'PRODUCT_STATE', { state: 'DRAFT' });
    expect((await activate()).product?.status).toBe(ProductStatus.ACTIVE);
    await expectRefusal(activate(), Code.FailedPrecondition, 'PRODUCT_STATE', { state: 'ACTIVE' });
    const archived = await archive();
    expect(archived.product?.archivedAt).toBeDefined();
    await expectRefusal(price(tenant, productId), Code.FailedPrecondition, 'PRODUCT_STATE', {
      state: 'ARCHIVED',
    });
  });

  it('retires a price with its offers, but never the last price of an active product', async () => {
    const tenant = newTenant();
    const { product } = await draft(tenant);
    const productId = product!.id;
    const first = (await price(tenant, productId)).price!;
    await client().activateProduct({ ...newWrite(tenant), productId });
    const retire = () => client().retirePrice({ ...newWrite(tenant), priceId: first.id });
    await expectRefusal(retire(), Code.FailedPrecondition, 'LAST_PRICE_OF_ACTIVE_PRODUCT', {
      state: 'ACTIVE',
    });
    const second = (await price(tenant, productId)).price!;
    const retired = await retire();
    expect(retired.product?.prices.map(({ id }) => id)).toEqual([second.id]);
    expect((await retire()).product?.prices).toHaveLength(1);
  });
});
