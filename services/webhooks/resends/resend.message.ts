import { type Resend, ResendState } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { workflowId } from '../../contracts/webhooks/resend-deliveries.contract.ts';
import { environmentEnum } from '../../platform/tenant.ts';
import { timestampOf } from '../../platform/timestamps.ts';
import type { WorkflowLink } from '../workflow-link.ts';
import type { ResendRow } from './resend.entity.ts';
import type { ResendReadRow } from './resend.queries.ts';

/** A row of a hot read as the wire's resend. */
export function resendMessage(row: ResendReadRow, link: WorkflowLink): Resend {
  const { period_from: from, period_to: to } = row;
  return {
    $typeName: 'payments.webhooks.v1.Resend',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    state: ResendState[row.state],
    eventId: row.event_id ?? undefined,
    requestId: row.event_request_id ?? undefined,
    period: from && to ? { $typeName: 'payments.webhooks.v1.PublishedPeriod', from, to } : undefined,
    subscriptionId: row.subscription_id ?? undefined,
    onlyFailed: row.only_failed,
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

/** A resend as a transaction holds it, as the wire's. */
export function storedResendMessage(row: ResendRow, link: WorkflowLink): Resend {
  const stored: ResendReadRow = {
    merchant_id: row.merchantId,
    environment: row.environment,
    id: row.id,
    state: row.state,
    event_id: row.eventId,
    event_request_id: row.eventRequestId,
    period_from: timestampOf(row.periodFrom) ?? null,
    period_to: timestampOf(row.periodTo) ?? null,
    subscription_id: row.subscriptionId,
    only_failed: row.onlyFailed,
    created_at: timestampOf(row.createdAt),
    ended_at: timestampOf(row.endedAt) ?? null,
    expected_count: row.expectedCount,
    made_count: row.madeCount,
    open_count: BigInt(row.openIds.length),
    succeeded_count: row.succeededCount,
    exhausted_count: row.exhaustedCount,
    canceled_count: row.canceledCount,
  };
  return resendMessage(stored, link);
}
