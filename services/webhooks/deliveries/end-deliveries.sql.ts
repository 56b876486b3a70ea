import * as retryDelivery from '../../contracts/webhooks/retry-delivery.contract.ts';

const COPIED_COLUMNS = [
  'merchant_id',
  'environment',
  'id',
  'subscription_id',
  'event_id',
  'event_type',
  'object_id',
  'sequence',
  'request_id',
  'resend_id',
  'ordered',
];

/** The final columns of a delivery, as SQL over `d`, the open delivery, and the rows joined to it. */
export interface DeliveryEnd {
  readonly status: string;
  /** A timestamptz. */
  readonly endedAt: string;
  /** Absent: unchanged. */
  readonly attemptCount?: string;
  /** The workflow that shows a delivery without a retry workflow. Default: none. */
  readonly workflowId?: string;
  /** Further columns of the result. */
  readonly returning?: string;
  /** The further columns that ended_delivery also has. */
  readonly stored?: string;
}

/**
 * Parts of a `with` clause that move deliveries from open_delivery to ended_delivery: the only way that deliveries end.
 * The first part is named `ended`, and returns the delivery, its previous `open_status`, `end_status`, `end_count` and
 * `end_at`.
 * @param which the rest of `delete from webhooks.open_delivery d`: `[using …] where …`.
 */
export function endDeliveries(which: string, end: DeliveryEnd): string {
  const { status, endedAt, attemptCount = 'd.attempt_count', workflowId = 'null', returning, stored } = end;
  const more = stored ? `, ${stored}` : '';
  const copied = COPIED_COLUMNS.map((column) => `d.${column}`).join(', ');
  return `
ended as (
  delete from webhooks.open_delivery d ${which}
  returning ${copied}, d.status as open_status, ${status} as end_status, ${attemptCount} as end_count,
            ${endedAt} as end_at,
            case d.status when 'RETRYING' then '${retryDelivery.workflowId('')}' || d.id else ${workflowId} end
              as end_workflow${returning ? `, ${returning}` : ''}
), stored as (
  insert into webhooks.ended_delivery (${COPIED_COLUMNS.join(', ')}, status, attempt_count, ended_at, workflow_id${more})
  select ${COPIED_COLUMNS.join(', ')}, end_status, end_count, end_at, end_workflow${more} from ended
)`;
}

/**
 * A part of a `with` clause after `ended`: the workflow of an exhausted delivery fails, and must not be started again.
 */
export const END_FAILED_RETRIES = `failed as (
  delete from platform.outbox_command c using ended
   where ended.end_status = 'EXHAUSTED' and c.kind = 'START' and c.workflow_id = '${retryDelivery.workflowId('')}' || ended.id
)`;
