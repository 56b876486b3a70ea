import { Type } from 'typebox';
import {
  amount,
  calendarDate,
  calendarMonth,
  closedObject,
  count,
  cursor,
  oneOf,
  page,
  pageLimit,
} from '../schemas.ts';

const STATUSES = ['BLOCKED', 'RELEASED', 'SCHEDULED'] as const;
const BLOCK_REASONS = ['HOLD_OR_DISPUTE', 'REFUND_IN_PROGRESS', 'KYC_PENDING', 'COMPLIANCE_HOLD'] as const;

const timezone = Type.String({
  description: 'IANA name of the time zone in which dates are computed.',
  examples: ['America/Sao_Paulo'],
});

const fundsRelease = closedObject(
  {
    date: calendarDate('Date of the release.'),
    status: oneOf(STATUSES, 'State of the release.'),
    originalAmountMinor: amount('Gross less fees'),
    grossAllocatedAmountMinor: amount('What customers paid'),
    feesAllocatedAmountMinor: amount('Fees'),
    deductionsAmountMinor: amount('Deductions'),
    advancedAmountMinor: amount('What was advanced'),
    blockedAmountMinor: amount('What is blocked'),
    releasedAmountMinor: amount('What was released'),
    scheduledAmountMinor: amount('What is to be released'),
    salesCount: count('Distinct sales.'),
    blockedReasons: Type.Array(oneOf(BLOCK_REASONS, 'A reason.'), { description: 'Why it is blocked.' }),
  },
  'The releases of a date and state, summed.',
);

const calendarDay = closedObject(
  {
    date: calendarDate('The day.'),
    releasedAmountMinor: amount('What was released'),
    scheduledAmountMinor: amount('What is to be released'),
    advancedAmountMinor: amount('What was advanced'),
    deductionsAmountMinor: amount('Deductions'),
    salesCount: count('Distinct sales of the day.'),
    hasBlockedFunds: Type.Boolean({ description: 'Whether any amount of the day is blocked.' }),
  },
  'A day that has a release.',
);

export const fundsReleaseListSchema = {
  operationId: 'listFundsReleases',
  summary: 'List funds releases',
  description: 'Past and future releases, ascending by date and status. Both bounds are inclusive.',
  tags: ['Balance and withdrawals'],
  querystring: closedObject({
    after: cursor(100),
    from: Type.Optional(calendarDate('Only releases of this date or later.')),
    limit: pageLimit(100),
    status: Type.Optional(oneOf(STATUSES, 'Only releases in this state.')),
    to: Type.Optional(calendarDate('Only releases of this date or earlier.')),
  }),
  response: { 200: page(fundsRelease, { timezone }) },
};

export const releaseCalendarSchema = {
  operationId: 'getReleaseCalendar',
  summary: 'Release calendar',
  description: 'The days of a month that have a release, ascending.',
  tags: ['Balance and withdrawals'],
  querystring: closedObject({
    month: Type.Optional(calendarMonth("The month; the current one in the account's time zone by default.")),
  }),
  response: {
    200: closedObject({
      days: Type.Array(calendarDay),
      month: Type.String({ description: 'The month, YYYY-MM.', examples: ['2026-11'] }),
      timezone,
    }),
  },
};
