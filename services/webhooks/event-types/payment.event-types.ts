import { Type } from 'typebox';
import { amount, closed, dateTime, type EventTypeDefinition, oneOf, uuid } from './event-type.ts';

const payment = {
  id: uuid(),
  orderId: Type.Optional(uuid()),
  amount: amount(1),
  currency: oneOf('BRL'),
  paymentMethod: oneOf('INSTANT_TRANSFER', 'CARD'),
  installments: Type.Optional(Type.Integer({ minimum: 1 })),
};

const example = {
  id: '0197c9e0-2a11-7c04-b0a3-3a6c2d7e5b20',
  orderId: '0197c9e0-1c52-7f3b-8a77-6f2b9f0f4e10',
  amount: 14400,
  currency: 'BRL',
  paymentMethod: 'CARD',
  installments: 3,
};

/** Events of payments, published by the payments teams. */
export const PAYMENT_EVENT_TYPES: readonly EventTypeDefinition[] = [
  {
    name: 'payment.succeeded.v1',
    description: 'A payment was captured.',
    schema: closed({ ...payment, status: oneOf('SUCCEEDED'), paidAt: dateTime() }),
    example: { ...example, status: 'SUCCEEDED', paidAt: '2026-07-02T13:05:00.000Z' },
  },
  {
    name: 'payment.failed.v1',
    description: 'A payment was not captured.',
    schema: closed({
      ...payment,
      status: oneOf('FAILED'),
      failureReason: Type.String({ minLength: 1, maxLength: 200 }),
      failedAt: dateTime(),
    }),
    example: {
      ...example,
      status: 'FAILED',
      failureReason: 'INSUFFICIENT_FUNDS',
      failedAt: '2026-07-02T13:05:00.000Z',
    },
  },
];
