import { Type } from 'typebox';
import type { OperationSchema } from './operation.ts';
import {
  amount,
  calendarDate,
  calendarMonth,
  closedObject,
  count,
  cursor,
  namesOf,
  oneOf,
  oneOfMeanings,
  pageLimit,
  pageMembers,
  resource,
} from './schemas.ts';

const STATUSES = {
  BLOCKED: 'held back for the `blockedReasons`.',
  RELEASED: 'released on its date.',
  SCHEDULED: 'scheduled for release on its date.',
} as const;
const BLOCK_REASONS = {
  HOLD_OR_DISPUTE: 'a hold by the service, or an open dispute about a sale.',
  REFUND_IN_PROGRESS: 'an open refund of a sale.',
  KYC_PENDING: "the merchant's identity check is not complete.",
  COMPLIANCE_HOLD: 'a compliance hold by the service.',
} as const;

const timezone = Type.String({
  description: 'IANA name of the time zone of all dates.',
  examples: ['America/Sao_Paulo'],
});

const CURSOR = 'MXwyMDI3LTAzLTA5fEJMT0NLRUQrIrBLc2kg1bEJQ2z';

const fundsRelease = resource(
  'FundsRelease',
  'The total of the releases with the same date and status.',
  {
    date: calendarDate('Date of the release.'),
    status: oneOfMeanings(STATUSES, 'State of the release.'),
    originalAmountMinor: amount('Gross less fees'),
    grossAllocatedAmountMinor: amount('Amount that customers paid'),
    feesAllocatedAmountMinor: amount('Fees'),
    deductionsAmountMinor: amount('Deductions'),
    advancedAmountMinor: amount('Amount advanced'),
    blockedAmountMinor: amount('Amount blocked'),
    releasedAmountMinor: amount('Amount released'),
    scheduledAmountMinor: amount('Amount scheduled for release'),
    salesCount: count('Distinct sales.'),
    blockedReasons: Type.Array(oneOfMeanings(BLOCK_REASONS, 'A reason.'), {
      description: 'Why it is blocked: the reasons of all its sales. Empty unless the status is BLOCKED.',
    }),
  },
  {
    date: '2027-03-09',
    status: 'BLOCKED',
    originalAmountMinor: 13_846,
    grossAllocatedAmountMinor: 14_408,
    feesAllocatedAmountMinor: 562,
    deductionsAmountMinor: 0,
    advancedAmountMinor: 0,
    blockedAmountMinor: 13_846,
    releasedAmountMinor: 0,
    scheduledAmountMinor: 0,
    salesCount: 1,
    blockedReasons: ['HOLD_OR_DISPUTE'],
  },
);

const calendarDay = resource(
  'ReleaseCalendarDay',
  'A day that has a release.',
  {
    date: calendarDate('The day.'),
    releasedAmountMinor: amount('Amount released'),
    scheduledAmountMinor: amount('Amount scheduled for release'),
    advancedAmountMinor: amount('Amount advanced'),
    deductionsAmountMinor: amount('Deductions'),
    salesCount: count('Distinct sales of the day.'),
    hasBlockedFunds: Type.Boolean({ description: 'Whether any amount of the day is blocked.' }),
  },
  {
    date: '2026-12-01',
    releasedAmountMinor: 0,
    scheduledAmountMinor: 21_235,
    advancedAmountMinor: 0,
    deductionsAmountMinor: 0,
    salesCount: 4,
    hasBlockedFunds: false,
  },
);

export const fundsReleaseListSchema = {
  operationId: 'listFundsReleases',
  scope: 'funds:read',
  summary: 'List funds releases',
  description:
    'Past and future releases, in ascending order of `date` and `status`. `from` and `to` are inclusive; `from` must not be later than `to`. Filters combine with AND.',
  tags: ['Balance and withdrawals'],
  querystring: closedObject({
    after: cursor(100, CURSOR),
    from: Type.Optional(calendarDate('Only releases on or after this date.')),
    limit: pageLimit(100),
    status: Type.Optional(oneOf(namesOf(STATUSES), 'Only releases in this state.')),
    to: Type.Optional(calendarDate('Only releases on or before this date.')),
  }),
  successDescription:
    'Releases that match all filters, in ascending order; `data` is empty if there are none.',
  response: {
    200: resource('FundsReleasePage', 'A page of the funds releases.', {
      ...pageMembers(fundsRelease, CURSOR),
      timezone,
    }),
  },
  errors: {
    INVALID_REQUEST: "Query parameter 'from' must be a valid date as YYYY-MM-DD.",
    INVALID_CURSOR: true,
  },
} satisfies OperationSchema;

export const releaseCalendarSchema = {
  operationId: 'getReleaseCalendar',
  scope: 'funds:read',
  summary: 'Get the release calendar',
  description: 'The dates of a month that have releases, in ascending order, with the amounts of each.',
  tags: ['Balance and withdrawals'],
  querystring: closedObject({
    month: Type.Optional(calendarMonth("The month; the current one in the account's time zone by default.")),
  }),
  successDescription: 'The calendar of the month; `days` is empty if the month has no releases.',
  response: {
    200: resource('ReleaseCalendar', 'The releases of one month, by date.', {
      days: Type.Array(calendarDay, {
        description: 'Each date of the month that has a release, in ascending order.',
      }),
      month: calendarMonth('The month.'),
      timezone,
    }),
  },
  errors: { INVALID_REQUEST: "Query parameter 'month' must be a month as YYYY-MM." },
} satisfies OperationSchema;
