/** The data of an event of about 1 KB. */
export const EVENT_DATA = {
  id: '0197b2a4-0e61-7c8d-9d3f-52f1a6c0b731',
  name: 'Monthly plan',
  description: 'x'.repeat(800),
  productType: 'SUBSCRIPTION',
  status: 'ACTIVE',
  refundWindowDays: 30,
  createdAt: '2026-06-28T12:00:00.000Z',
  updatedAt: '2026-06-29T08:00:00.000Z',
};

/** The type of the events that are published. */
export const EVENT_TYPE = 'product.updated.v1';
