import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { type RefundCase, RefundCaseStatus } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { SILENT_AFTER_MS } from './month-system.ts';

/** Who has to do what about an open refund case, and until when. */
export interface NextStep {
  readonly action: 'DECIDE' | 'REVIEW' | 'CLEAR_BLOCKER' | 'FUND' | 'REPORT_OUTCOME';
  readonly owner: 'MERCHANT' | 'OPERATIONS' | 'PROVIDER';
  readonly dueAt: Date;
}

/**
 * The next step of an open case, by its own data. The service sets a deadline for the merchant's decision and for the
 * provider; everything else is due before the payment can no longer be refunded. Throws for an approved case without
 * blockers: the system should have executed it by now.
 */
export function nextStepOf(refundCase: RefundCase): NextStep {
  const { id, status, blockedBy, updatedAt, refundWindow, merchantReviewDeadlineAt } = refundCase;
  const windowEnd = dateOf(refundWindow?.expiresAt, `refund window of ${id}`);
  switch (status) {
    case RefundCaseStatus.MERCHANT_REVIEW: {
      const dueAt = dateOf(merchantReviewDeadlineAt, `deadline of ${id}`);
      return { action: 'DECIDE', owner: 'MERCHANT', dueAt };
    }
    case RefundCaseStatus.SERVICE_REVIEW:
      return { action: 'REVIEW', owner: 'OPERATIONS', dueAt: windowEnd };
    case RefundCaseStatus.APPROVED_FOR_EXECUTION:
      if (blockedBy.length === 0) throw new Error(`the system has not executed ${id}`);
      return { action: 'CLEAR_BLOCKER', owner: 'OPERATIONS', dueAt: windowEnd };
    case RefundCaseStatus.FUNDING_REQUIRED:
      return blockedBy.length > 1
        ? { action: 'CLEAR_BLOCKER', owner: 'OPERATIONS', dueAt: windowEnd }
        : { action: 'FUND', owner: 'MERCHANT', dueAt: windowEnd };
    case RefundCaseStatus.PROCESSING: {
      const dueAt = new Date(dateOf(updatedAt, `last change of ${id}`).getTime() + SILENT_AFTER_MS);
      return { action: 'REPORT_OUTCOME', owner: 'PROVIDER', dueAt };
    }
    default:
      throw new Error(`${id} is not open: ${RefundCaseStatus[status]}`);
  }
}

function dateOf(time: Timestamp | undefined, name: string): Date {
  if (!time) throw new Error(`no ${name}`);
  return timestampDate(time);
}
