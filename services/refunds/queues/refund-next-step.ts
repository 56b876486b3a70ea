import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { ActionOwner, RefundCaseAction } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { EnumName } from '../../platform/enum-name.ts';
import type { RefundCaseReadRow } from '../refund-case.queries.ts';
import type { RefundExecutionMode } from '../refund-case-store.ts';

type Action = EnumName<typeof RefundCaseAction>;
export type Owner = EnumName<typeof ActionOwner>;

/** An execution takes seconds; after an hour its workflow needs help. */
export const EXECUTION_DUE_AFTER_MS = 3_600_000;

const OWNERS: Readonly<Record<Action, Owner>> = {
  AWAIT_MERCHANT: 'MERCHANT',
  REVIEW: 'OPERATIONS',
  RESOLVE_DISPUTE: 'OPERATIONS',
  CLEAR_BLOCKER: 'OPERATIONS',
  START_REFUND: 'OPERATIONS',
  AWAIT_EXECUTION: 'SERVICE',
  AWAIT_FUNDS: 'MERCHANT',
  AWAIT_PROVIDER: 'PROVIDER',
};

/** An open case as its queue reads it. */
export type QueuedCaseReadRow = RefundCaseReadRow & {
  /** Whether a dispute of its payment is open. */
  is_disputed: boolean;
  /** When the last closed dispute of its payment ended. */
  undisputed_at: Timestamp | null;
};

/** The settings that determine who must act next, and by when. */
export interface QueueRules {
  readonly execution: RefundExecutionMode;
  /** How long operations and merchants have for steps without a deadline. */
  readonly workDueAfterMs: number;
  /** The setting PROVIDER_SILENT_AFTER. */
  readonly silentAfterMs: number;
}

interface NextStep {
  readonly action: Action;
  readonly owner: Owner;
  readonly since: Timestamp;
  /** Undefined while a dispute has to end first, which has a due time of its own. */
  readonly dueAt: Timestamp | undefined;
}

/** The next action for an open case: by whom, since when and until when. Throws TypeError for a closed case. */
export function nextRefundStep(row: QueuedCaseReadRow, rules: QueueRules): NextStep {
  const action = nextActionOf(row, rules.execution);
  const since = waitingSince(row, action);
  const after = (ms: number) => timestampFromMs(timestampMs(since) + ms);
  return { action, owner: OWNERS[action], since, dueAt: dueAt() };

  function dueAt(): Timestamp | undefined {
    switch (action) {
      case 'AWAIT_MERCHANT':
        return row.merchant_review_deadline_at!;
      case 'AWAIT_EXECUTION':
        return after(EXECUTION_DUE_AFTER_MS);
      case 'AWAIT_PROVIDER':
        return after(rules.silentAfterMs);
      case 'RESOLVE_DISPUTE':
        return row.is_disputed ? undefined : after(rules.workDueAfterMs);
      default:
        return after(rules.workDueAfterMs);
    }
  }
}

function waitingSince(row: QueuedCaseReadRow, action: Action): Timestamp {
  const reviewableAt = row.is_disputed ? null : laterOf(row.status_changed_at, row.undisputed_at);
  const times: Partial<Record<Action, Timestamp | null>> = {
    REVIEW: reviewableAt,
    RESOLVE_DISPUTE: reviewableAt,
    AWAIT_EXECUTION: row.execution_started_at,
    AWAIT_PROVIDER: row.provider_reported_at ?? row.processing_started_at,
  };
  return times[action] ?? row.status_changed_at;
}

const laterOf = (one: Timestamp, other: Timestamp | null): Timestamp =>
  other !== null && timestampMs(other) > timestampMs(one) ? other : one;

function nextActionOf(
  { status, blocked_by: blockedBy, execution_started_at: executionStartedAt }: RefundCaseReadRow,
  execution: RefundExecutionMode,
): Action {
  switch (status) {
    case 'MERCHANT_REVIEW':
      return 'AWAIT_MERCHANT';
    case 'SERVICE_REVIEW':
      return blockedBy.includes('PAYMENT_DISPUTED') ? 'RESOLVE_DISPUTE' : 'REVIEW';
    case 'APPROVED_FOR_EXECUTION':
      if (executionStartedAt !== null) return 'AWAIT_EXECUTION';
      if (blockedBy.length > 0) return 'CLEAR_BLOCKER';
      return execution === 'automatic' ? 'AWAIT_EXECUTION' : 'START_REFUND';
    case 'FUNDING_REQUIRED':
      return blockedBy.length > 1 ? 'CLEAR_BLOCKER' : 'AWAIT_FUNDS';
    case 'PROCESSING':
      return 'AWAIT_PROVIDER';
    case 'SUCCEEDED':
    case 'FAILED':
    case 'CANCELED':
    case 'REJECTED':
      throw new TypeError(`a case in ${status} has no next step`);
    default:
      return status satisfies never;
  }
}
