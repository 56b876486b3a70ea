import { Type } from 'typebox';
import type { OperationSchema } from './operation.ts';
import { amount, closedObject, count, dateTime, noQuery, oneOf, resource, uuid } from './schemas.ts';

const PRODUCT_ID = '01a1fda2-a1ec-77d1-a69a-9452e21e477e';
const PRICE_ID = '01a1fda2-a22d-73b4-8d1c-c8fa018aed98';
const IMAGE_ID = 'fffd00f4-d8a6-50be-a529-36399fa9332d';

const price = resource(
  'Price',
  'A current price. Prices never change; a new one takes the place of the old.',
  {
    id: uuid('Id of the price.'),
    currency: oneOf(['BRL'], 'Currency of the amount.'),
    amountMinor: amount('The price', 1),
    type: oneOf(['ONE_TIME', 'RECURRING'], 'Whether it is charged once or again and again.'),
    interval: Type.Optional(oneOf(['DAY', 'WEEK', 'MONTH', 'YEAR'], 'Of recurring prices.')),
    intervalCount: Type.Optional(count('How many intervals lie between charges, of recurring prices.', 1)),
    trialDays: Type.Optional(count('Days before the first charge.')),
    maxInstallments: count('Most instalments.', 1),
    createdAt: dateTime('When the price was made.'),
  },
);

const offer = resource('Offer', 'A current offer of a price.', {
  id: uuid('Id of the offer.'),
  priceId: uuid('The current price that is offered.'),
  name: Type.String({ description: 'Name of the offer.' }),
  checkoutUrl: Type.String({ description: 'Where it is bought.' }),
  paymentMethods: Type.Array(oneOf(['INSTANT_TRANSFER', 'CARD'], 'A way to pay.'), {
    description: 'How it can be paid.',
  }),
  maxInstallments: count('Most instalments.', 1),
  startsAt: dateTime('From when it holds.'),
  endsAt: Type.Optional(dateTime('Until when it holds.')),
});

const product = resource(
  'Product',
  'What a merchant sells.',
  {
    id: uuid('Id of the product.'),
    name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the product.' }),
    description: Type.Optional(Type.String({ maxLength: 4000, description: 'What it is.' })),
    environment: oneOf(['live', 'test'], 'The environment it is of.'),
    productType: oneOf(['ONE_TIME', 'SUBSCRIPTION'], 'How it is sold.'),
    status: oneOf(['DRAFT', 'ACTIVE', 'ARCHIVED'], 'State of the product.'),
    refundWindowDays: count('Days after a payment in which it can be refunded.', 7, 90),
    imageAssetId: Type.Optional(uuid('The image.')),
    imageUrl: Type.Optional(
      Type.String({ maxLength: 2048, pattern: '^https://', description: 'The image.' }),
    ),
    createdAt: dateTime('When it was made.'),
    updatedAt: dateTime('When it last changed.'),
    archivedAt: Type.Optional(dateTime('When it was archived.')),
    prices: Type.Array(price, { description: 'Current prices.' }),
    offers: Type.Array(offer, { description: 'Current offers.' }),
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
  answers: 'The product, in whatever status.',
  response: { 200: product },
  errors: {
    INVALID_REQUEST: "Path parameter 'id' must be a UUID.",
    PRODUCT_NOT_FOUND: true,
  },
} satisfies OperationSchema;
