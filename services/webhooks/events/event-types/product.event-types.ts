import { Type } from 'typebox';
import { closed, count, dateTime, type EventTypeDefinition, oneOf, text, uuid } from './event-type.ts';

const product = closed('The product after the change, without its prices and offers.', {
  id: uuid('Id of the product.'),
  name: text('Name of the product.', { minLength: 1, maxLength: 200 }),
  description: Type.Optional(text('Description of the product.', { maxLength: 4000 })),
  productType: oneOf('How it is sold.', 'ONE_TIME', 'SUBSCRIPTION'),
  status: oneOf('State of the product.', 'DRAFT', 'ACTIVE', 'ARCHIVED'),
  refundWindowDays: count('Days after a payment in which it can be refunded.', 7, 90),
  imageAssetId: Type.Optional(uuid('The image.')),
  imageUrl: Type.Optional(text('The image.', { maxLength: 2048, pattern: '^https://' })),
  createdAt: dateTime('When it was created.'),
  updatedAt: dateTime('When it last changed.'),
  archivedAt: Type.Optional(dateTime('When it was archived.')),
});

const created = {
  id: '0197b2a4-0e61-7c8d-9d3f-52f1a6c0b731',
  name: 'Monthly plan',
  description: 'Access to every course, month by month.',
  productType: 'SUBSCRIPTION',
  status: 'DRAFT',
  refundWindowDays: 30,
  imageUrl: 'https://cdn.example.com/monthly-plan.png',
  createdAt: '2026-06-28T12:00:00.000Z',
  updatedAt: '2026-06-28T12:00:00.000Z',
};

/** Events of products; `data` is the product without its prices and offers. */
export const PRODUCT_EVENT_TYPES: readonly EventTypeDefinition[] = [
  {
    name: 'product.created.v1',
    description: 'A product was created.',
    schema: product,
    example: created,
  },
  {
    name: 'product.updated.v1',
    description: 'A product, its prices or its offers have changed.',
    schema: product,
    example: { ...created, status: 'ACTIVE', updatedAt: '2026-06-29T08:00:00.000Z' },
  },
  {
    name: 'product.archived.v1',
    description: 'A product was archived.',
    schema: product,
    example: {
      ...created,
      status: 'ARCHIVED',
      updatedAt: '2026-09-01T08:00:00.000Z',
      archivedAt: '2026-09-01T08:00:00.000Z',
    },
  },
];
