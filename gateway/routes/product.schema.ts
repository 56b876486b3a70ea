import { Type } from 'typebox';
import { ENVIRONMENTS } from '../../services/platform/tenant.ts';
import type { OperationSchema } from './operation.ts';
import { amount, closedObject, count, dateTime, noQuery, oneOf, resource, uuid } from './schemas.ts';

const PRODUCT_ID = '01a1fda2-a1ec-77d1-a69a-9452e21e477e';
const PRICE_ID = '01a1fda2-a22d-73b4-8d1c-c8fa018aed98';
const IMAGE_ID = 'fffd00f4-d8a6-50be-a529-36399fa9332d';

const price = resource('Price', 'A current price. Prices never change; a new price replaces the old one.', {
  id: uuid('Id of the price.'),
  currency: oneOf(['BRL'], 'Currency of the amount.'),
  amountMinor: amount('The price', 1),
  type: oneOf(['ONE_TIME', 'RECURRING'], 'Whether it is charged once or repeatedly.'),
  interval: Type.Optional(
    oneOf(['DAY', 'WEEK', 'MONTH', 'YEAR'], 'The billing interval of a recurring price.'),
  ),
  intervalCount: Type.Optional(count('Number of intervals between charges of a recurring price.', 1)),
  trialDays: Type.Optional(count('Number of days before the first charge.')),
  maxInstallments: count('Maximum number of installments.', 1),
  createdAt: dateTime('When the price was created.'),
});

const offer = resource('Offer', 'A current offer of a price.', {
  id: uuid('Id of the offer.'),
  priceId: uuid('The current price of the offer.'),
  name: Type.String({ description: 'Name of the offer.' }),
  checkoutUrl: Type.String({ description: 'URL of the checkout.' }),
  paymentMethods: Type.Array(oneOf(['INSTANT_TRANSFER', 'CARD'], 'A payment method.'), {
    description: 'Accepted payment methods.',
  }),
  maxInstallments: count('Maximum number of installments.', 1),
  startsAt: dateTime('When the offer starts.'),
  endsAt: Type.Optional(dateTime('When the offer ends.')),
});

const product = resource(
  'Product',
  'A product of the merchant.',
  {
    id: uuid('Id of the product.'),
    name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the product.' }),
    description: Type.Optional(Type.String({ maxLength: 4000, description: 'Description of the product.' })),
    environment: oneOf(ENVIRONMENTS, 'The environment that it belongs to.'),
    productType: oneOf(['ONE_TIME', 'SUBSCRIPTION'], 'Whether it is sold once or by subscription.'),
    status: oneOf(['DRAFT', 'ACTIVE', 'ARCHIVED'], 'State of the product.'),
    refundWindowDays: count('Number of days after the payment during which it can be refunded.', 7, 90),
    imageAssetId: Type.Optional(uuid('Id of the image.')),
    imageUrl: Type.Optional(
      Type.String({ maxLength: 2048, pattern: '^https://', description: 'URL of the image.' }),
    ),
    createdAt: dateTime('When it was created.'),
    updatedAt: dateTime('When it last changed.'),
    archivedAt: Type.Optional(dateTime('When it was archived.')),
    prices: Type.Array(price, { description: 'Current prices of the product.' }),
    offers: Type.Array(offer, { description: 'Current offers of the product.' }),
  },
  {
    id: PRODUCT_ID,
    name: 'Curso de fotografia',
    description: 'Curso de fotografia, com acesso imediato após o pagamento.',
    environment: 'live',
    productType: 'ONE_TIME',
    status: 'ACTIVE',
    refundWindowDays: 7,
    imageAssetId: IMAGE_ID,
    imageUrl: `https://images.example.com/${IMAGE_ID}.png`,
    createdAt: '2026-05-04T15:00:00.000Z',
    updatedAt: '2026-05-29T15:00:00.000Z',
    archivedAt: undefined,
    prices: [
      {
        id: PRICE_ID,
        currency: 'BRL',
        amountMinor: 4_990,
        type: 'ONE_TIME',
        maxInstallments: 12,
        createdAt: '2026-05-14T15:00:00.000Z',
      },
    ],
    offers: [
      {
        id: '01a1fda2-a264-7216-9fc8-308a4d6313b6',
        priceId: PRICE_ID,
        name: 'Lançamento',
        checkoutUrl: `https://checkout.example.com/${PRODUCT_ID}`,
        paymentMethods: ['CARD', 'INSTANT_TRANSFER'],
        maxInstallments: 12,
        startsAt: '2026-06-03T15:00:00.000Z',
        endsAt: '2027-02-18T15:00:00.000Z',
      },
    ],
  },
);

export const productSchema = {
  operationId: 'getProduct',
  scope: 'catalog:read',
  summary: 'Get a product',
  description: 'One product with its current prices and offers.',
  tags: ['Catalog'],
  params: closedObject({ id: uuid('Id of the product.', PRODUCT_ID) }),
  querystring: noQuery,
  successDescription: 'The product, whatever its status.',
  response: { 200: product },
  errors: {
    INVALID_REQUEST: "Path parameter 'id' must be a UUID.",
    PRODUCT_NOT_FOUND: true,
  },
} satisfies OperationSchema;
