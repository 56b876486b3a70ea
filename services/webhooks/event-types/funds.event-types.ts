import { Type } from 'typebox';
import { amount, closed, date, type EventTypeDefinition, oneOf } from './event-type.ts';

const release = closed({
  date: date(),
  status: oneOf('BLOCKED', 'RELEASED', 'SCHEDULED'),
  originalAmountMinor: amount(),
  grossAllocatedAmountMinor: amount(),
  feesAllocatedAmountMinor: amount(),
  deductionsAmountMinor: amount(),
  advancedAmountMinor: amount(),
  blockedAmountMinor: amount(),
  releasedAmountMinor: amount(),
  scheduledAmountMinor: amount(),
  salesCount: Type.Integer({ minimum: 0 }),
  blockedReasons: Type.Array(
    oneOf('HOLD_OR_DISPUTE', 'REFUND_IN_PROGRESS', 'KYC_PENDING', 'COMPLIANCE_HOLD'),
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
