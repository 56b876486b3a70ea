import { Type } from 'typebox';
import { amount, closed, dateTime, type EventTypeDefinition, oneOf, text, uuid } from './event-type.ts';

const advanceRequest = closed('The request after the change.', {
  id: uuid('Id of the request.'),
  quoteId: uuid('The quote that was requested.'),
  scheduleId: uuid('The version of the schedule that was quoted.'),
  amount: amount('What is advanced', 1),
  feeAmount: amount('The fee'),
  netAmount: amount('The amount less the fee', 1),
  status: oneOf('State of the request.', 'PENDING_REVIEW', 'APPROVED', 'RELEASED', 'REFUSED', 'SETTLED'),
  requestedAt: dateTime('When it was requested.'),
  reviewedAt: Type.Optional(dateTime('When it was reviewed.')),
  reviewReason: Type.Optional(text("The reviewer's reason.")),
  releasedAt: Type.Optional(dateTime('When it was released and its payout started.')),
});

const requested = {
  id: '0197e05b-42f7-7a39-8c6d-1f0be94d7a51',
  quoteId: '0197e05a-9b20-7e4c-b5d2-7c31f8a60e42',
  scheduleId: '0197e05a-9b21-7b07-93a8-e2d46c1f5033',
  amount: 4800,
  feeAmount: 120,
  netAmount: 4680,
  status: 'PENDING_REVIEW',
  requestedAt: '2026-07-06T11:00:00.000Z',
};
const reviewed = { ...requested, reviewedAt: '2026-07-06T15:00:00.000Z' };
const released = { ...reviewed, releasedAt: '2026-07-06T15:05:00.000Z' };

const advance = (
  verb: string,
  description: string,
  example: Record<string, unknown>,
): EventTypeDefinition => ({ name: `advance.${verb}.v1`, description, schema: advanceRequest, example });

/** Events of advances; `data` is the request as GET /v1/advance/requests shows it. */
export const ADVANCE_EVENT_TYPES: readonly EventTypeDefinition[] = [
  advance('requested', 'An advance was requested.', requested),
  advance('approved', 'An advance was approved.', { ...reviewed, status: 'APPROVED' }),
  advance('refused', 'An advance was refused; its receivables are free again.', {
    ...reviewed,
    status: 'REFUSED',
    reviewReason: 'The quoted receivables have changed',
  }),
  advance('released', 'An advance was released; its payout has started.', {
    ...released,
    status: 'RELEASED',
  }),
  advance('settled', 'The last date that an advance covers has passed.', { ...released, status: 'SETTLED' }),
];
