import { Type } from 'typebox';
import { amount, closedObject, cursor, dateTime, oneOf, pageLimit, uuid } from '../schemas.ts';

const STATUSES = ['PENDING_REVIEW', 'APPROVED', 'RELEASED', 'REFUSED', 'SETTLED'] as const;

const advanceRequest = closedObject(
  {
    id: uuid('Id of the request.'),
    quoteId: uuid('The quote that was taken up.'),
    scheduleId: uuid('The version of the schedule that was quoted.'),
    amount: amount('What is advanced'),
    feeAmount: amount('The fee'),
    netAmount: amount('The amount less the fee'),
    status: oneOf(STATUSES, 'State of the request.'),
    requestedAt: dateTime('When it was requested.'),
    reviewedAt: Type.Optional(dateTime('When it was reviewed.')),
    reviewReason: Type.Optional(Type.String({ description: "The reviewer's reason." })),
    releasedAt: Type.Optional(dateTime('When it was paid out.')),
  },
  'A request for an advance of receivables.',
);

export const advanceRequestListSchema = {
  operationId: 'listAdvanceRequests',
  summary: 'List advance requests',
  description: 'Newest first by requestedAt and id.',
  tags: ['Advances'],
  querystring: closedObject({ after: cursor(256), limit: pageLimit(50) }),
  response: {
    200: closedObject({
      data: Type.Array(advanceRequest),
      nextCursor: Type.Optional(
        Type.String({ description: 'Where the next page starts; absent on the last one.' }),
      ),
    }),
  },
};
