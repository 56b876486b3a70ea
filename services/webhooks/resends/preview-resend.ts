import { CompiledQuery } from 'kysely';
import type {
  PreviewResendRequest,
  PreviewResendResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { bindNamed, type NamedParameters } from '../../platform/database/named-sql.ts';
import { type Tenant, tenantOf } from '../../platform/tenant.ts';
import { requireEvent } from '../events/require-event.ts';
import { selectSubscription } from '../subscriptions/subscription.queries.ts';
import { requireEnabled } from '../subscriptions/subscription.ts';
import { subscriptionNotFound } from '../subscriptions/subscription-store.ts';
import { candidateParameters, IS_TYPE, isSelected, OUTCOME, TARGET } from './resend-candidates.sql.ts';
import { selectionOf, withMissedEvents } from './resend-selection.ts';

/** Bounds how many events are counted, because the caller waits. */
const MAX_COUNTED = 10_000;

const countSql = (selected: string) => `
with examined as materialized (
  select id, type from webhooks.event
   where ${selected}
   order by id limit ${MAX_COUNTED + 1}
), outcomes as (
  select e.id, s.created_at, ${OUTCOME} as outcome
    from (select * from examined order by id limit ${MAX_COUNTED}) e
    join webhooks.subscription s on ${TARGET} and ${IS_TYPE}
)
select count(*) filter (where outcome = 'FAILED') as failed,
       count(*) filter (where outcome = 'NEVER_SENT') as never_sent,
       count(*) filter (where outcome = 'NEVER_SENT' and id < platform.first_id(created_at)) as older,
       count(*) filter (where outcome = 'DELIVERED') as delivered,
       count(*) filter (where outcome = 'OPEN') as open,
       (select count(*) from examined) > ${MAX_COUNTED} as has_more
  from outcomes`;

interface CountRow {
  readonly failed: bigint;
  readonly never_sent: bigint;
  readonly older: bigint;
  readonly delivered: bigint;
  readonly open: bigint;
  readonly has_more: boolean;
}

/**
 * Counts the events that a resend would deliver again, by their outcome so far. Refuses what ResendDeliveries
 * refuses.
 */
export async function previewResend(
  database: Database,
  request: PreviewResendRequest,
): Promise<PreviewResendResponse> {
  const tenant = tenantOf(request);
  const execute = executeAs(database, tenant);
  const subscriptionId = request.subscriptionId?.toLowerCase() ?? null;
  const selection = await withMissedEvents(execute, selectionOf(request, new Date()));
  if (subscriptionId !== null) {
    const subscription = await database.readOne(selectSubscription({ ...tenant, id: subscriptionId }));
    if (!subscription || subscription.deleted_at) throw subscriptionNotFound();
    requireEnabled(subscription.state);
  }
  const { eventId } = selection;
  if (eventId !== null) await requireEvent(execute, eventId);
  const parameters = candidateParameters({ ...selection, subscriptionId });
  const [row] = await execute<CountRow>(countSql(isSelected(selection)), parameters);
  const { failed, never_sent, older, delivered, open, has_more } = row!;
  return {
    $typeName: 'payments.webhooks.v1.PreviewResendResponse',
    failedCount: failed,
    neverSentCount: never_sent,
    olderCount: older,
    deliveredCount: delivered,
    openCount: open,
    hasMore: has_more,
  };
}

const executeAs =
  (database: Database, tenant: Tenant) =>
  <Row>(sql: string, parameters: NamedParameters): Promise<Row[]> => {
    const { text, values } = bindNamed(sql, { ...parameters, ...tenant });
    return database.read<Row>(CompiledQuery.raw(text, values) as CompiledQuery<Row>);
  };
