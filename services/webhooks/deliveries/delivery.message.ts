import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type Attempt,
  AttemptFailure,
  type Delivery,
  DeliveryStatus,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as retryDelivery from '../../contracts/webhooks/retry-delivery.contract.ts';
import { readRowOf } from '../../platform/reads/read-table.ts';
import { environmentEnum } from '../../platform/tenant.ts';
import { idTimeMs } from '../id-time.ts';
import type { WorkflowLink } from '../workflow-link.ts';
import type { DeliveryRow } from './delivery.entity.ts';
import type { AttemptReadRow, DeliveryReadRow } from './delivery.queries.ts';

/** The message of a delivery that a hot read returned, with a link to its workflow. */
export function deliveryMessage(row: DeliveryReadRow, link: WorkflowLink): Delivery {
  const workflowId = workflowIdOf(row);
  return {
    $typeName: 'payments.webhooks.v1.Delivery',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    subscriptionId: row.subscription_id,
    eventId: row.event_id,
    eventType: row.event_type,
    status: DeliveryStatus[row.status],
    attemptCount: row.attempt_count,
    nextAttemptAt: row.next_attempt_at ?? undefined,
    createdAt: timestampFromMs(idTimeMs(row.id)),
    endedAt: row.ended_at ?? undefined,
    workflowId,
    workflowUrl: workflowId === '' ? undefined : link(workflowId),
    requestId: row.request_id,
    objectId: row.object_id,
    sequence: row.sequence,
    ordered: row.ordered,
    resendId: row.resend_id ?? undefined,
  };
}

/** The message of a delivery inside a transaction. */
export const storedDeliveryMessage = (row: DeliveryRow, link: WorkflowLink): Delivery =>
  deliveryMessage(readRowOf(row), link);

export function attemptMessage(row: AttemptReadRow): Attempt {
  return {
    $typeName: 'payments.webhooks.v1.Attempt',
    number: row.number,
    startedAt: row.started_at,
    endedAt: row.ended_at ?? undefined,
    latencyMs: row.latency_ms ?? undefined,
    httpStatus: row.http_status ?? undefined,
    failure: row.failure === null ? undefined : AttemptFailure[row.failure],
    responseExcerpt: row.response_excerpt ?? undefined,
    detail: detailOf(row),
    responseHeaders: [],
  };
}

function detailOf({ failure, detail }: AttemptReadRow): Attempt['detail'] {
  if (detail === null) return { case: undefined };
  return { case: failure === null ? 'redirectLocation' : 'certificateNames', value: detail };
}

/** A RETRYING delivery has a retry workflow; an ended one names the workflow that shows it. */
const workflowIdOf = ({ id, status, workflow_id }: DeliveryReadRow): string =>
  status === 'RETRYING' ? retryDelivery.workflowId(id) : (workflow_id ?? '');
