import { Type } from 'typebox';
import { closed, dateTime, type EventTypeDefinition, oneOf, uuid } from './event-type.ts';

const product = closed({
  id: uuid(),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.Optional(Type.String({ maxLength: 4000 })),
  productType: oneOf('ONE_TIME', 'SUBSCRIPTION'),
  status: oneOf('DRAFT', 'ACTIVE', 'ARCHIVED'),
  refundWindowDays: Type.Integer({ minimum: 7, maximum: 90 }),
  imageAssetId: Type.Optional(uuid()),
  imageUrl: Type.Optional(Type.String({ maxLength: 2048, pattern: '^https://' })),
  createdAt: dateTime(),
  updatedAt: dateTime(),
  archivedAt: Type.Optional(dateTime()),
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
