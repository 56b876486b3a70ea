import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  BankHoliday,
  BlockReason,
  type FundsRelease,
  FundsReleaseStatus,
  type ReleaseCalendarDay,
  type ReleaseCalendarHoliday,
  type SaleInstallmentSchema,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { CalendarReadRow, ReleaseReadRow } from './funds.queries.ts';
import type { DatedHoliday } from './releases/business-days.ts';
import { type Installment, originalMinor, statusOf } from './sales/installment.ts';

export function releaseMessage(row: ReleaseReadRow): FundsRelease {
  const { status, remaining_minor: remaining } = row;
  return {
    $typeName: 'payments.funds.v1.FundsRelease',
    date: row.date,
    status: FundsReleaseStatus[status],
    originalAmountMinor: row.gross_minor - row.fees_minor,
    grossAllocatedAmountMinor: row.gross_minor,
    feesAllocatedAmountMinor: row.fees_minor,
    deductionsAmountMinor: row.deducted_minor,
    advancedAmountMinor: row.advanced_minor,
    blockedAmountMinor: status === 'BLOCKED' ? remaining : 0n,
    releasedAmountMinor: status === 'RELEASED' ? remaining : 0n,
    scheduledAmountMinor: status === 'SCHEDULED' ? remaining : 0n,
    salesCount: row.sales_count,
    blockedReasons: blockReasonsOf(row),
  };
}

export function calendarDayMessage(row: CalendarReadRow): ReleaseCalendarDay {
  return {
    $typeName: 'payments.funds.v1.ReleaseCalendarDay',
    date: row.date,
    releasedAmountMinor: row.released_minor,
    scheduledAmountMinor: row.scheduled_minor,
    advancedAmountMinor: row.advanced_minor,
    deductionsAmountMinor: row.deducted_minor,
    salesCount: row.sales_count,
    hasBlockedFunds: row.has_blocked,
    blockedAmountMinor: row.blocked_minor,
  };
}

export function holidayMessage({ date, name }: DatedHoliday): ReleaseCalendarHoliday {
  return { $typeName: 'payments.funds.v1.ReleaseCalendarHoliday', date, holiday: BankHoliday[name] };
}

export function saleInstallmentMessage(
  installment: Installment,
): MessageInitShape<typeof SaleInstallmentSchema> {
  return {
    id: installment.id,
    number: installment.number,
    part: installment.part,
    date: installment.date,
    grossAmountMinor: installment.grossMinor,
    feesAmountMinor: installment.feesMinor,
    originalAmountMinor: originalMinor(installment),
    deductionsAmountMinor: installment.deductedMinor,
    advancedAmountMinor: installment.advancedMinor,
    status: FundsReleaseStatus[statusOf(installment)],
  };
}

function blockReasonsOf(row: ReleaseReadRow): BlockReason[] {
  const reasons: BlockReason[] = [];
  if (row.status !== 'BLOCKED') return reasons;
  if (row.held_by_dispute > 0) reasons.push(BlockReason.HOLD_OR_DISPUTE);
  if (row.held_by_refund > 0) reasons.push(BlockReason.REFUND_IN_PROGRESS);
  if (row.held_by_kyc > 0) reasons.push(BlockReason.KYC_PENDING);
  if (row.held_by_compliance > 0) reasons.push(BlockReason.COMPLIANCE_HOLD);
  return reasons;
}
