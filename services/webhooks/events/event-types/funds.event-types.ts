import { amount, closed, count, date, type EventTypeDefinition, listOf, oneOf } from './event-type.ts';

const DESCRIPTION =
  'The releases of the date in the state to which funds have moved, summed, after the change. Those in the state that the funds left have changed without an event: to keep a copy, read all releases of the date.';
const release = closed(DESCRIPTION, {
  date: date('Date of the release, in America/Sao_Paulo.'),
  status: oneOf('State of the release.', 'BLOCKED', 'RELEASED', 'SCHEDULED'),
  originalAmountMinor: amount('Gross less fees'),
  grossAllocatedAmountMinor: amount('What customers paid'),
  feesAllocatedAmountMinor: amount('Fees'),
  deductionsAmountMinor: amount('Deductions'),
  advancedAmountMinor: amount('What was advanced'),
  blockedAmountMinor: amount('What is blocked'),
  releasedAmountMinor: amount('What was released'),
  scheduledAmountMinor: amount('What is to be released'),
  salesCount: count('Distinct sales.'),
  blockedReasons: listOf(
    'Why it is blocked.',
    oneOf('A reason.', 'HOLD_OR_DISPUTE', 'REFUND_IN_PROGRESS', 'KYC_PENDING', 'COMPLIANCE_HOLD'),
  ),
});

const released = {
  date: '2026-08-03',
  status: 'RELEASED',
  originalAmountMinor: 14250,
  grossAllocatedAmountMinor: 15000,
  feesAllocatedAmountMinor: 750,
  deductionsAmountMinor: 0,
  advancedAmountMinor: 0,
  blockedAmountMinor: 0,
  releasedAmountMinor: 14250,
  scheduledAmountMinor: 0,
  salesCount: 3,
  blockedReasons: [] as string[],
};

/** Events of funds; `data` is the release row as GET /v1/funds/releases shows it after the change. */
export const FUNDS_EVENT_TYPES: readonly EventTypeDefinition[] = [
  {
    name: 'funds.released.v1',
    description: 'Funds of a date were released.',
    schema: release,
    example: released,
  },
  {
    name: 'funds.blocked.v1',
    description: 'Funds of a date were blocked.',
    schema: release,
    example: {
      ...released,
      status: 'BLOCKED',
      releasedAmountMinor: 0,
      blockedAmountMinor: 14250,
      blockedReasons: ['HOLD_OR_DISPUTE'],
    },
  },
  {
    name: 'funds.unblocked.v1',
    description: 'A block of funds of a date was lifted.',
    schema: release,
    example: { ...released, status: 'SCHEDULED', releasedAmountMinor: 0, scheduledAmountMinor: 14250 },
  },
];
