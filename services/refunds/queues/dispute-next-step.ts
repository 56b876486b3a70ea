import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { DisputeAction } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { EnumName } from '../../platform/enum-name.ts';
import type { DisputeReadRow } from '../disputes/dispute.queries.ts';
import type { Owner } from './refund-next-step.ts';

/** The next action for an open dispute. */
interface NextStep {
  readonly action: EnumName<typeof DisputeAction>;
  readonly owner: Owner;
  readonly since: Timestamp;
}

export function nextDisputeStep(row: DisputeReadRow, nowMs: number): NextStep {
  const { opened_at: openedAt, due_at: dueAt, responded_at: respondedAt } = row;
  const { response_submitted_at: submittedAt } = row;
  const owner = 'OPERATIONS';
  if (submittedAt !== null) return { action: 'RECORD_OUTCOME', owner, since: submittedAt };
  if (respondedAt !== null) return { action: 'REVIEW_RESPONSE', owner, since: respondedAt };
  if (dueAt === null) return { action: 'RECORD_OUTCOME', owner, since: openedAt };
  if (timestampMs(dueAt) <= nowMs) return { action: 'RECORD_OUTCOME', owner, since: dueAt };
  return { action: 'AWAIT_MERCHANT', owner: 'MERCHANT', since: openedAt };
}
