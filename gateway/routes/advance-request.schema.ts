import { Type } from 'typebox';
import type { OperationSchema } from './operation.ts';
import {
  amount,
  closedObject,
  cursor,
  dateTime,
  oneOfMeanings,
  pageLimit,
  resource,
  uuid,
} from './schemas.ts';

const STATUSES = {
  PENDING_REVIEW: 'under review; the receivables that it covers are reserved.',
  APPROVED: 'approved, not yet released.',
  RELEASED: 'released; the payout of the net amount has started and may still be in progress.',
  REFUSED: 'refused; the receivables that it covered are available again.',
  SETTLED: 'released, and the last release date that it covers has passed.',
} as const;

const CURSOR =
  'MXwyMDI2LTExLTIxVDEwOjI0OjI0LjMyOFp8MWJhODJkMGMtMWE4OC01NzQwLTgzMTItNzIxNGRkNGNjMjYzC4kb7IYgn1pgFIOA';

const advanceRequest = resource(
  'AdvanceRequest',
  'A request for an advance of receivables.',
  {
    id: uuid('Id of the request.'),
    quoteId: uuid('The accepted quote.'),
    scheduleId: uuid('The version of the release schedule that the quote is based on.'),
    amount: amount('The advanced amount'),
    feeAmount: amount('The fee'),
    netAmount: amount('The amount minus the fee'),
    status: oneOfMeanings(STATUSES, 'State of the request.'),
    requestedAt: dateTime('When it was requested.'),
    reviewedAt: Type.Optional(dateTime('When it was reviewed.')),
    reviewReason: Type.Optional(Type.String({ description: "The reviewer's reason." })),
    releasedAt: Type.Optional(dateTime('When it was released and its payout started.')),
  },
  {
    id: '21f66b07-d11b-5047-a930-6a718fb091b8',
    quoteId: '01a1fda2-c0ae-7258-af0d-4385c29aa253',
    scheduleId: '01a1fda2-c08d-7215-9781-30ffe421ce9e',
    amount: 288_205,
    feeAmount: 20_526,
    netAmount: 267_679,
    status: 'RELEASED',
    requestedAt: '2026-11-21T10:24:24.244Z',
    reviewedAt: '2026-11-21T10:24:24.277Z',
    reviewReason: 'Aprovado pela política',
    releasedAt: '2026-11-21T10:24:24.281Z',
  },
);

export const advanceRequestListSchema = {
  operationId: 'listAdvanceRequests',
  scope: 'advances:read',
  summary: 'List advance requests',
  description:
    "The account's advance requests in all states, newest first by `requestedAt` and `id`. The last page has no `nextCursor`.",
  tags: ['Advances'],
  querystring: closedObject({ after: cursor(256, CURSOR), limit: pageLimit(50) }),
  successDescription: 'Advance requests, newest first; `data` is empty if there are none.',
  response: {
    200: resource('AdvanceRequestPage', 'A page of the advance requests.', {
      data: Type.Array(advanceRequest, { description: 'The items of the page, newest first.' }),
      nextCursor: Type.Optional(
        Type.String({
          description: 'Where the next page starts; absent on the last page.',
          examples: [CURSOR],
        }),
      ),
    }),
  },
  links: {
    next: {
      operationId: 'listAdvanceRequests',
      parameters: { after: '$response.body#/nextCursor' },
      description: 'The next page, if there is a `nextCursor`.',
    },
  },
  errors: {
    INVALID_REQUEST: "Query parameter 'limit' must be an integer from 1 to 50.",
    INVALID_CURSOR: true,
  },
} satisfies OperationSchema;
