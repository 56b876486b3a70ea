import { Type } from 'typebox';
import { closed, dateTime, type EventTypeDefinition, uuid } from './event-type.ts';

const dispute = closed('The dispute after the change.', {
  id: uuid('Id of the dispute.'),
  paymentIntentId: uuid('The payment that is disputed.'),
  openedAt: dateTime('When it was opened.'),
  closedAt: Type.Optional(dateTime('When it ended; absent while it is open.')),
});

const opened = {
  id: '0197d4c1-6d2e-7b55-a1f0-94c7e2b83d11',
  paymentIntentId: '0197c9e0-2a11-7c04-b0a3-3a6c2d7e5b20',
  openedAt: '2026-07-04T10:15:00.000Z',
};

/** Events of disputes; `closedAt` is absent while one is open. */
export const DISPUTE_EVENT_TYPES: readonly EventTypeDefinition[] = [
  {
    name: 'dispute.opened.v1',
    description: 'A payment is disputed.',
    schema: dispute,
    example: opened,
  },
  {
    name: 'dispute.closed.v1',
    description: 'A dispute has ended.',
    schema: dispute,
    example: { ...opened, closedAt: '2026-07-20T16:40:00.000Z' },
  },
];
