import {
  PaymentMethod,
  PriceInterval,
  PriceType,
  ProductType,
} from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import type { DemoTenant } from './demo-tenant.ts';

const NAMES = [
  'Curso de fotografia',
  'Plano mensal',
  'Consultoria',
  'E-book de receitas',
  'Clube do café',
  'Oficina',
];

/** Creates products in every state, with prices and offers. Returns their ids; the first has every field set. */
export async function createDemoProducts(demo: DemoTenant): Promise<string[]> {
  const productIds: string[] = [];
  for (const [n, name] of NAMES.entries()) {
    const productId = await createProduct(demo, n, name);
    productIds.push(productId);
    // The last one has no price yet.
    if (n < 5) await createPricesAndOffer(demo, n, productId);
    if (n === 4) {
      const archive = { ...demo.write(`product-${n}-archive`), productId, occurredAt: demo.daysAgo(20) };
      await demo.clients.products.archiveProduct(archive);
    }
  }
  return productIds;
}

async function createProduct(demo: DemoTenant, n: number, name: string): Promise<string> {
  const { product } = await demo.clients.products.createProduct({
    ...demo.write(`product-${n}`),
    name,
    ...(n % 2 === 0 && { description: `${name}, com acesso imediato após o pagamento.` }),
    productType: n % 2 === 0 ? ProductType.ONE_TIME : ProductType.SUBSCRIPTION,
    refundWindowDays: [7, 30, 90][n % 3]!,
    ...(n % 2 === 0 && {
      imageAssetId: demo.id(`image-${n}`),
      imageUrl: `https://images.example.com/${demo.id(`image-${n}`)}.png`,
    }),
    occurredAt: demo.daysAgo(200 - n),
  });
  return product!.id;
}

/** Sets a product up as a merchant would: two prices, an offer, and activation, except for a draft. */
async function createPricesAndOffer(demo: DemoTenant, n: number, productId: string): Promise<void> {
  const recurring = n % 2 === 1;
  const price = (step: string, amountMinor: bigint, installments: number) => ({
    ...demo.write(`product-${n}-${step}`),
    productId,
    amountMinor,
    type: recurring ? PriceType.RECURRING : PriceType.ONE_TIME,
    ...(recurring && { interval: PriceInterval.MONTH, intervalCount: 1, trialDays: 7 }),
    maxInstallments: installments,
    occurredAt: demo.daysAgo(190 - n),
  });
  const { products } = demo.clients;
  const standard = await products.createPrice(price('price-standard', BigInt(4_990 + n * 1_000), 12));
  await products.createPrice(price('price-promotion', BigInt(3_990 + n * 1_000), 1));
  if (n !== 2) {
    const activation = { ...demo.write(`product-${n}-activate`), productId, occurredAt: demo.daysAgo(180) };
    await products.activateProduct(activation);
  }
  await products.createOffer({
    ...demo.write(`product-${n}-offer`),
    priceId: standard.price!.id,
    name: n % 2 === 0 ? 'Lançamento' : 'Assinatura',
    checkoutUrl: `https://checkout.example.com/${productId}`,
    paymentMethods: n % 2 === 0 ? [PaymentMethod.CARD, PaymentMethod.INSTANT_TRANSFER] : [PaymentMethod.CARD],
    maxInstallments: n % 2 === 0 ? 12 : 1,
    startsAt: demo.daysAgo(170),
    ...(n % 2 === 0 && { endsAt: demo.daysAgo(-90) }),
    occurredAt: demo.daysAgo(175),
  });
}
