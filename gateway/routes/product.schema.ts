import { Type } from 'typebox';
import { amount, closedObject, count, dateTime, noQuery, oneOf, uuid } from '../schemas.ts';

const price = closedObject(
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
  'A current price. Prices never change; a new one takes the place of the old.',
);

const offer = closedObject(
  {
    id: uuid('Id of the offer.'),
    priceId: uuid('The current price that is offered.'),
    name: Type.String({ description: 'Name of the offer.' }),
    checkoutUrl: Type.String({ description: 'Where it is bought.' }),
    paymentMethods: Type.Array(oneOf(['INSTANT_TRANSFER', 'CARD'], 'A way to pay.')),
    maxInstallments: count('Most instalments.', 1),
    startsAt: dateTime('From when it holds.'),
    endsAt: Type.Optional(dateTime('Until when it holds.')),
  },
  'A current offer of a price.',
);

const product = closedObject(
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
  'What a merchant sells.',
);

export const productSchema = {
  operationId: 'getProduct',
  summary: 'Get a product',
  description: 'One product with its current prices and offers.',
  tags: ['Catalog'],
  params: closedObject({ id: uuid('Id of the product.') }),
  querystring: noQuery,
  response: { 200: product },
};
