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
  page,
  pageLimit,
  resource,
} from './schemas.ts';

const STATUSES = {
  BLOCKED: 'held back, for the `blockedReasons`.',
  RELEASED: 'released on its date.',
  SCHEDULED: 'to be released on its date.',
} as const;
const BLOCK_REASONS = {
  HOLD_OR_DISPUTE: 'a hold by the service, or an open dispute of a sale.',
  REFUND_IN_PROGRESS: 'an open refund of a sale.',
  KYC_PENDING: "the check of the merchant's identity is not finished.",
  COMPLIANCE_HOLD: "held by the service's compliance.",
} as const;

const timezone = Type.String({
  description: 'IANA name of the time zone in which dates are computed.',
  examples: ['America/Sao_Paulo'],
});

const CURSOR = 'MXwyMDI3LTAzLTA5fEJMT0NLRUQrIrBLc2kg1bEJQ2z';

const fundsRelease = resource(
  'FundsRelease',
  'The releases of a date and state, summed.',
  {
    date: calendarDate('Date of the release.'),
    status: oneOfMeanings(STATUSES, 'State of the release.'),
    originalAmountMinor: amount('Gross less fees'),
    grossAllocatedAmountMinor: amount('What customers paid'),
    feesAllocatedAmountMinor: amount('Fees'),
    deductionsAmountMinor: amount('Deductions'),
    advancedAmountMinor: amount('What was advanced'),
    blockedAmountMinor: amount('What is blocked'),
    releasedAmountMinor: amount('What was released'),
    scheduledAmountMinor: amount('What is to be released'),
    salesCount: count('Distinct sales.'),
    blockedReasons: Type.Array(oneOfMeanings(BLOCK_REASONS, 'A reason.'), {
      description: 'Why it is blocked: the reasons of all its sales. Empty unless it is BLOCKED.',
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
    releasedAmountMinor: amount('What was released'),
    scheduledAmountMinor: amount('What is to be released'),
    advancedAmountMinor: amount('What was advanced'),
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
    'Past and future releases, ascending by `date` and `status`. `from` and `to` are inclusive; `from` must not be later than `to`. A release must match all filters.',
  tags: ['Balance and withdrawals'],
  querystring: closedObject({
    after: cursor(100, CURSOR),
    from: Type.Optional(calendarDate('Only releases of this date or later.')),
    limit: pageLimit(100),
    status: Type.Optional(oneOf(namesOf(STATUSES), 'Only releases in this state.')),
    to: Type.Optional(calendarDate('Only releases of this date or earlier.')),
  }),
  answers: 'Releases that match all filters, ascending; `data` is empty where there is none.',
  response: {
    200: page('FundsReleasePage', 'A page of the funds releases.', fundsRelease, CURSOR, { timezone }),
  },
  errors: {
    INVALID_REQUEST: "Query parameter 'from' must be a date that the calendar has, as YYYY-MM-DD.",
    INVALID_CURSOR: true,
  },
} satisfies OperationSchema;

export const releaseCalendarSchema = {
  operationId: 'getReleaseCalendar',
  scope: 'funds:read',
  summary: 'Get the release calendar',
  description: 'The dates of a month that have a release, ascending, with the amount expected on each.',
  tags: ['Balance and withdrawals'],
  querystring: closedObject({
    month: Type.Optional(calendarMonth("The month; the current one in the account's time zone by default.")),
  }),
  answers: 'The calendar of the month; `days` is empty where nothing is released in it.',
  response: {
    200: resource('ReleaseCalendar', 'The releases of a month, by date.', {
      days: Type.Array(calendarDay, { description: 'Each date of the month that has a release, ascending.' }),
      month: calendarMonth('The month.'),
      timezone,
    }),
  },
  errors: { INVALID_REQUEST: "Query parameter 'month' must be a month as YYYY-MM." },
} satisfies OperationSchema;
