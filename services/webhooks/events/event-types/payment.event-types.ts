import { Type } from 'typebox';
import {
  amount,
  closed,
  count,
  dateTime,
  type EventTypeDefinition,
  oneOf,
  text,
  uuid,
} from './event-type.ts';

const payment = {
  id: uuid('Id of the payment; paymentIntentId of its refunds.'),
  orderId: Type.Optional(uuid('The order.')),
  amount: amount('The amount of the payment', 1),
  currency: oneOf('Currency of the amount.', 'BRL'),
  paymentMethod: oneOf('The payment method.', 'INSTANT_TRANSFER', 'CARD'),
  installments: Type.Optional(count('Number of installments of a card payment.', 1)),
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
    schema: closed('The payment.', {
      ...payment,
      status: oneOf('State of the payment.', 'SUCCEEDED'),
      paidAt: dateTime('When it was captured.'),
    }),
    example: { ...example, status: 'SUCCEEDED', paidAt: '2026-07-02T13:05:00.000Z' },
  },
  {
    name: 'payment.failed.v1',
    description: 'A payment was not captured.',
    schema: closed('The payment.', {
      ...payment,
      status: oneOf('State of the payment.', 'FAILED'),
      failureReason: text('Why it failed.', { minLength: 1, maxLength: 200 }),
      failedAt: dateTime('When it failed.'),
    }),
    example: {
      ...example,
      status: 'FAILED',
      failureReason: 'INSUFFICIENT_FUNDS',
      failedAt: '2026-07-02T13:05:00.000Z',
    },
  },
];
