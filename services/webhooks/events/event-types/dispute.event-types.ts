import { Type } from 'typebox';
import { amount, closed, dateTime, type EventTypeDefinition, oneOf, uuid } from './event-type.ts';

const facts = {
  id: uuid('Id of the dispute.'),
  paymentIntentId: uuid('The payment that is disputed.'),
  saleId: Type.Optional(uuid('The sale whose funds it holds; absent when it is not known.')),
  amount: Type.Optional(amount('What is disputed (absent: the rest of the sale)', 1)),
  currency: oneOf('Currency of the amount.', 'BRL'),
  reason: oneOf(
    'Why the customer disputes the payment.',
    'GENERAL',
    'FRAUDULENT',
    'UNRECOGNIZED',
    'DUPLICATE',
    'PRODUCT_NOT_RECEIVED',
    'PRODUCT_UNACCEPTABLE',
    'SUBSCRIPTION_CANCELED',
    'CREDIT_NOT_PROCESSED',
  ),
  openedAt: dateTime('When it was opened.'),
  dueAt: Type.Optional(dateTime('Until when the merchant can respond; absent when it is not known.')),
  respondedAt: Type.Optional(dateTime('When the merchant responded; absent without a response.')),
  closedAt: Type.Optional(dateTime('When it ended; absent while it is open.')),
};
const outcome = (description: string) => oneOf(description, 'WON', 'LOST');
const dispute = {
  ...facts,
  outcome: Type.Optional(outcome('How it ended for the merchant; absent while it is open.')),
};
const afterChange = (properties: Record<string, Type.TSchema>) =>
  closed('The dispute after the change.', properties);

const opened = {
  id: '0197d4c1-6d2e-7b55-a1f0-94c7e2b83d11',
  paymentIntentId: '0197c9e0-2a11-7c04-b0a3-3a6c2d7e5b20',
  saleId: '0197c9e0-3b7f-7a10-8d52-6f4e0c9b1a33',
  amount: 12_900,
  currency: 'BRL',
  reason: 'PRODUCT_NOT_RECEIVED',
  openedAt: '2026-07-04T10:15:00.000Z',
  dueAt: '2026-07-14T10:15:00.000Z',
};
const responded = { ...opened, respondedAt: '2026-07-08T18:02:00.000Z' };

export const DISPUTE_EVENT_TYPES: readonly EventTypeDefinition[] = [
  {
    name: 'dispute.opened.v1',
    description: 'A payment is disputed.',
    schema: afterChange(dispute),
    example: opened,
  },
  {
    name: 'dispute.responded.v1',
    description: 'The merchant has responded to a dispute.',
    schema: afterChange({ ...dispute, respondedAt: dateTime('When the merchant responded.') }),
    example: responded,
  },
  {
    name: 'dispute.closed.v1',
    description: 'A dispute has ended.',
    schema: afterChange({
      ...dispute,
      closedAt: dateTime('When it ended.'),
      outcome: outcome('How it ended for the merchant.'),
    }),
    example: { ...responded, closedAt: '2026-07-20T16:40:00.000Z', outcome: 'WON' },
  },
  {
    name: 'dispute.reversed.v1',
    description: 'A lost dispute was reversed, as on appeal: what was deducted for it is restored.',
    schema: afterChange({
      ...facts,
      closedAt: dateTime('When the merchant had lost it.'),
      outcome: oneOf('The merchant had lost it, and the loss was reversed.', 'REVERSED'),
      reversedAt: dateTime('When the loss was reversed.'),
    }),
    example: {
      ...responded,
      closedAt: '2026-07-20T16:40:00.000Z',
      outcome: 'REVERSED',
      reversedAt: '2026-08-19T09:05:00.000Z',
    },
  },
];
