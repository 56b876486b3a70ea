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

/** The final columns of a delivery, as SQL over `d`, the open delivery, and the rows joined to it. */
export interface DeliveryEnd {
  readonly status: string;
  /** A timestamptz. */
  readonly endedAt: string;
  /** Absent: unchanged. */
  readonly attemptCount?: string;
  /** Further columns of the result. */
  readonly returning?: string;
}

/**
 * Parts of a `with` clause that move deliveries from open_delivery to ended_delivery: the only way that deliveries end.
 * The first part is named `ended`, and returns the delivery, its previous `open_status`, `end_status`, `end_count` and
 * `end_at`.
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
