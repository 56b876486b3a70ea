import { sql } from 'kysely';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { excerptOf } from '../attempts/exchange.ts';
import { type AttemptResult, isSuccess } from '../deliveries/delivery.ts';
import { endDeliveries } from '../deliveries/end-deliveries.sql.ts';

/** An open delivery of a listener, with the body to send. */
export interface ListenerDeliveryRow {
  readonly id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly body: string;
}

interface OldestOpen extends Tenant {
  readonly listenerId: string;
  readonly limit: number;
}

const db = queryBuilder<object>();

/** The oldest open deliveries of a listener. */
export const selectOldestOpen = prepareRead<OldestOpen, ListenerDeliveryRow>((parameters) =>
  sql<ListenerDeliveryRow>`
select d.id, d.event_id, d.event_type, e.body
  from (select id, event_id, event_type from webhooks.open_delivery
         where merchant_id = ${parameters('merchantId')} and environment = ${parameters('environment')}
           and subscription_id = ${parameters('listenerId')}
         order by id limit ${parameters('limit')}) d
 cross join lateral (
   select body from webhooks.event
    where merchant_id = ${parameters('merchantId')} and environment = ${parameters('environment')}
      and type = d.event_type and id = d.event_id
    limit 1
 ) e
 order by d.id`.compile(db),
);

/** Records attempt 1: a listener's delivery has only one, and a listener keeps its generation while it is open. */
const END = `
with ${endDeliveries(
  `where d.merchant_id = :merchantId and d.environment = :environment and d.subscription_id = :listenerId
     and d.id = :deliveryId`,
  { status: ':status', attemptCount: '1', endedAt: ':endedAt::timestamptz' },
)}
insert into webhooks.attempt
  (merchant_id, environment, delivery_id, number, generation, started_at, ended_at, latency_ms, http_status, failure,
   response_excerpt)
select merchant_id, environment, id, 1, 1, :startedAt::timestamptz, end_at, :latencyMs::int, :httpStatus::int, :failure,
       :responseExcerpt
  from ended`;

interface ListenerDeliveryKey {
  readonly listenerId: string;
  readonly deliveryId: string;
}

/** The outcome of the only attempt of a delivery. */
type ListenerResult = Pick<AttemptResult, 'httpStatus' | 'failure' | 'responseExcerpt'> & {
  readonly latencyMs: number;
};

/** Ends a delivery of a listener as SUCCEEDED or EXHAUSTED. Has no effect on one that has ended. */
export async function endListenerDelivery(
  tx: TenantTransaction,
  key: ListenerDeliveryKey,
  { httpStatus, failure, responseExcerpt, latencyMs }: ListenerResult,
): Promise<void> {
  const endedAt = new Date();
  await tx.execute(END, {
    ...key,
    status: isSuccess({ endedAt, httpStatus }) ? 'SUCCEEDED' : 'EXHAUSTED',
    startedAt: new Date(endedAt.getTime() - latencyMs),
    endedAt,
    latencyMs,
    httpStatus: httpStatus ?? null,
    failure: failure ?? null,
    responseExcerpt: responseExcerpt === undefined ? null : excerptOf(Buffer.from(responseExcerpt)),
  });
}
