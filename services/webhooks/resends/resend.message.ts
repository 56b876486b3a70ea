import { type Resend, ResendState } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { workflowId } from '../../contracts/webhooks/resend-deliveries.contract.ts';
import { readRowOf } from '../../platform/reads/read-table.ts';
import { environmentEnum } from '../../platform/tenant.ts';
import type { WorkflowLink } from '../workflow-link.ts';
import type { ResendRow } from './resend.entity.ts';
import type { ResendReadRow } from './resend.queries.ts';

/** The message of a resend that a hot read returned. */
export function resendMessage(row: ResendReadRow, link: WorkflowLink): Resend {
  const { period_from: from, period_to: to, missed_from, missed_before } = row;
  return {
    $typeName: 'payments.webhooks.v1.Resend',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    state: ResendState[row.state],
    eventId: row.event_id ?? undefined,
    requestId: row.event_request_id ?? undefined,
    period: from && to ? { $typeName: 'payments.webhooks.v1.PublishedPeriod', from, to } : undefined,
    missed:
      missed_from === null || missed_before === null
        ? undefined
        : { $typeName: 'payments.webhooks.v1.MissedEvents', from: missed_from, before: missed_before },
    subscriptionId: row.subscription_id ?? undefined,
    onlyFailed: row.only_failed,
    skipNeverSent: row.skip_never_sent,
    createdAt: row.created_at,
    endedAt: row.ended_at ?? undefined,
    expectedCount: row.expected_count > row.made_count ? row.expected_count : row.made_count,
    madeCount: row.made_count,
    openCount: row.open_count,
    succeededCount: row.succeeded_count,
    exhaustedCount: row.exhausted_count,
    canceledCount: row.canceled_count,
    workflowId: workflowId(row.id),
    workflowUrl: link(workflowId(row.id)),
  };
}

/** The message of a resend inside a transaction. */
export const storedResendMessage = (row: ResendRow, link: WorkflowLink): Resend =>
  resendMessage({ ...readRowOf(row), open_count: BigInt(row.openIds.length) }, link);
