import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  PaymentMethod,
  PriceInterval,
  PriceType,
  ProductService,
  ProductType,
} from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { newTenant, newWrite } from '../../../support/harness.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';

const fixture = await sharedDashboard();

/** A merchant with a viewer, and calls of the shop. */
async function shop() {
  const tenant = newTenant();
  const client = createClient(ProductService, fixture.transport);
  const write = () => newWrite(tenant);
  const visitor = await fixture.signIn({ [tenant.merchantId]: Role.VIEWER });
  const create = async (name: string, description?: string) => {
    const kind = { productType: ProductType.SUBSCRIPTION, refundWindowDays: 30 };
    const { product } = await client.createProduct({
      ...write(),
      ...kind,
      name,
      imageUrl: 'https://shop.example/a.png',
      ...(description !== undefined && { description }),
    });
    return product!.id;
  };
  const price = async (productId: string, amountMinor: bigint) => {
    const terms = {
      type: PriceType.RECURRING,
      interval: PriceInterval.MONTH,
      intervalCount: 3,
      trialDays: 7,
    };
    const { price } = await client.createPrice({
      ...write(),
      productId,
      amountMinor,
      ...terms,
      maxInstallments: 12,
    });
    return price!.id;
  };
  return { client, write, visitor, create, price, list: `/live/${tenant.merchantId}/products` };
}

it('lists products newest first with their states and prices, filtered by state and paginated', async () => {
  const { client, write, visitor, create, price, list } = await shop();
  const [draft, active, archived] = [await create('Draft'), await create('Active'), await create('Archived')];
  for (const productId of [active, archived]) {
    await price(productId, 129_900n);
    await client.activateProduct({ ...write(), productId });
  }
  await price(active, 99n);
  await client.archiveProduct({ ...write(), productId: archived });
  const names = async (query: string) =>
    (await visitor.get(`${list}${query}`)).document.querySelectorAll('tbody a').map(({ text }) => text);
  expect(await names('')).toEqual(['Archived', 'Active', 'Draft']);
  for (const state of ['Draft', 'Active', 'Archived']) {
    expect(await names(`?status=${state.toUpperCase()}`)).toEqual([state]);
  }
  const rows = (await visitor.get(list)).document.querySelectorAll('tbody tr').map(({ text }) => text);
  expect(rows[1]).toMatch(/R\$1,299\.00 every 3 months and 1 more/);
  expect(rows[2]).toContain('no price');
  expect(await names(`/${draft}`)).toEqual([]);
  for (let n = 0; n < 24; n += 1) await create(`More ${n}`);
  const first = await visitor.get(list);
  const next = first.document.querySelector('a[rel=next]')!.getAttribute('href')!;
  const second = await visitor.get(next);
  expect([first, second].map(({ document }) => document.querySelectorAll('tbody a').length)).toEqual([25, 2]);
});

it('shows a product with its prices and offers, read-only', async () => {
  const { client, write, visitor, create, price, list } = await shop();
  const productId = await create('Course', 'Twelve lessons.\nWith a certificate.');
  const priceId = await price(productId, 4_800n);
  await client.createOffer({
    ...write(),
    priceId,
    name: 'Launch',
    checkoutUrl: 'https://shop.example/launch',
    paymentMethods: [PaymentMethod.CARD, PaymentMethod.INSTANT_TRANSFER],
    maxInstallments: 6,
  });
  const { document, status } = await visitor.get(`${list}/${productId}`);
  const { text } = document.querySelector('main')!;
  expect(status).toBe(200);
  for (const said of [
    'Course',
    'Draft',
    'Subscription',
    'Twelve lessons.\nWith a certificate.',
    '30 days',
    productId,
    priceId,
    'R$48.00',
    'every 3 months',
    '7 days',
    'up to 12',
    'Launch',
    'Card, Pix',
    'up to 6',
    'no end',
    'https://shop.example/launch',
    'https://shop.example/a.png',
  ]) {
    expect(text).toContain(said);
  }
  const links = document
    .querySelectorAll('main a:not(.breadcrumbs a)')
    .map((one) => one.getAttribute('href'));
  expect(links).toEqual([`${list.replace('products', 'funds/sales')}?product=${productId}`]);
  expect(document.querySelectorAll('main form, main img')).toHaveLength(0);
  expect(
    fixture.app.registered.filter(({ section, method }) => section === 'products' && method === 'POST'),
  ).toEqual([]);
});
