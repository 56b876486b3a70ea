const KEPT = [
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
  'batch_id',
];

/** What an ended delivery becomes, as SQL over `d`, the open one, and over what is joined to it. */
export interface DeliveryEnd {
  readonly status: string;
  /** As timestamptz. */
  readonly endedAt: string;
  /** Absent: it stays. */
  readonly attemptCount?: string;
  /** Further columns of the result. */
  readonly returning?: string;
}

/**
 * The one way deliveries end: parts of a `with` clause that move them from the open to the ended ones. The first part
 * is named `ended`, and answers the delivery, `open_status` as it was, `end_status`, `end_count` and `end_at`.
 * @param which the rest of `delete from webhooks.open_delivery d`: `[using …] where …`.
 */
export function endDeliveries(which: string, end: DeliveryEnd): string {
  const { status, endedAt, attemptCount = 'd.attempt_count', returning } = end;
  const kept = KEPT.map((column) => `d.${column}`).join(', ');
  return `
ended as (
  delete from webhooks.open_delivery d ${which}
  returning ${kept}, d.status as open_status, ${status} as end_status, ${attemptCount} as end_count,
            ${endedAt} as end_at${returning ? `, ${returning}` : ''}
), logged as (
  insert into webhooks.ended_delivery (${KEPT.join(', ')}, status, attempt_count, ended_at)
  select ${KEPT.join(', ')}, end_status, end_count, end_at from ended
)`;
}
