import type { HandlerContext } from '@connectrpc/connect';
import { MAX } from 'uuid';
import type {
  ContinueResendRequest,
  ContinueResendResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { MAX_WAITING } from '../../contracts/webhooks/resend-deliveries.contract.ts';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { OutboxSignal } from '../../platform/outbox/outbox-signal.ts';
import { backgroundContext, requestIdOf } from '../../platform/rpc/call-context.ts';
import { type Tenant, tenantOfRow } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import type { WorkflowLink } from '../workflow-link.ts';
import type { ResendRow } from './resend.entity.ts';
import { storedResendMessage } from './resend.message.ts';
import { candidateParameters, isSelected, isWanted, TARGET } from './resend-candidates.sql.ts';
import { countEnded, countWaiting } from './resend-progress.ts';
import { lockResend, resendNotFound } from './resend-store.ts';

interface Dependencies {
  readonly db: CrossTenantDatabase;
  readonly writes: Writes;
  readonly outboxSignal: OutboxSignal;
  readonly link: WorkflowLink;
}

/**
 * The maximum number of open deliveries of one resend, all of which its row lists. Those that fail follow their
 * schedule for up to three days, while the resend continues.
 */
const MAX_OPEN = 5_000;
/** Events examined in one step, however few of them match. */
const MAX_EXAMINED_EVENTS = 2_000;

/**
 * Creates the next deliveries of a resend, and ends it when none is left to create and none is open. Its position
 * among the events commits with them, so none is created twice, and resends of the same missed events create none twice
 * together. A resend whose subscriptions are all DISABLED creates no more. NOT_FOUND (RESEND_NOT_FOUND).
 */
export async function continueResend(
  { db, writes, outboxSignal, link }: Dependencies,
  { resendId, maxDeliveries }: ContinueResendRequest,
  context: HandlerContext,
): Promise<ContinueResendResponse> {
  const [row] = await db.run<TenantRow>(FIND_TENANT, { resendId });
  if (!row) throw resendNotFound();
  const tenant = tenantOfRow(row);
  const { created, ...answer } = await writes.transaction(
    tenant,
    { ...backgroundContext(requestIdOf(context)), signal: context.signal },
    async (tx) => {
      const resend = await lockResend(tx, resendId);
      const step = resend.state === 'RUNNING' ? await createNext(tx, resend, maxDeliveries) : NOTHING_LEFT;
      return { ...step, resend: storedResendMessage(resend, link) };
    },
  );
  if (created > 0) outboxSignal.committed('EVENTS');
  return { $typeName: 'payments.webhooks.v1.ContinueResendResponse', ...answer };
}

/**
 * A merchant's resends create deliveries one at a time, so that each sees those of the others: together they leave capacity for
 * new events, and make no missed event's delivery twice. None waits for another, whose process may be paused: it would hold a
 * connection and one of the merchant's writes.
 */
const ONE_AT_A_TIME = 'continue webhook resends';

type TenantRow = { merchant_id: string; environment: Tenant['environment'] };
const FIND_TENANT: Statement = {
  name: 'find_resend_tenant',
  text: 'select merchant_id, environment from webhooks.resend where id = :resendId',
};

const NOTHING_LEFT = { created: 0, more: false, waiting: false };
const TRY_AGAIN = { created: 0, more: true, waiting: false };

async function createNext(tx: TenantTransaction, resend: ResendRow, maxDeliveries: number) {
  if (!(await tx.tryNamedLock(ONE_AT_A_TIME))) return TRY_AGAIN;
  await countEnded(tx, resend);
  const free = Math.min(MAX_WAITING - (await countWaiting(tx, resend)), MAX_OPEN - resend.openIds.length);
  const capacity = Math.max(Math.min(maxDeliveries, free), 0);
  const { created, more } = await createDeliveries(tx, resend, capacity);
  if (!more && resend.openIds.length === 0) {
    resend.state = 'COMPLETED';
    resend.endedAt = new Date();
  }
  return { created, more, waiting: capacity === 0 };
}

/** A concurrent disable or pause waits for the lock, or is visible to it. */
const LOCK_TARGETS = `select s.id from webhooks.subscription s where ${TARGET} order by s.id for key share`;

const createSql = (resend: ResendRow) => `
with examined as materialized (
  select id, type, object_id, sequence, request_id from webhooks.event
   where ${isSelected(resend)}
   order by id limit ${MAX_EXAMINED_EVENTS}
), wanted as (
  select e.*, s.id as subscription_id, s.lane, s.paused_at
    from examined e
    join webhooks.subscription s on ${TARGET} and s.id = any (:targets::uuid[])
   where (e.id, s.id) > (:afterEventId, :afterSubscriptionId) and ${isWanted(resend)}
   order by e.id, s.id limit :capacity::integer + 1
), numbered as materialized (
  select *, row_number() over (order by id, subscription_id) as place from wanted
), created as (
  insert into webhooks.open_delivery
    (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id, resend_id,
     ordered, status, attempt_count, next_attempt_at)
  select :merchantId, :environment, uuidv7(), subscription_id, lane, id, type, object_id, sequence, request_id, :resendId,
         false, case when paused_at is null then 'PENDING' else 'HELD' end, 0, date_trunc('milliseconds', now())
    from numbered where place <= :capacity::integer order by place
  returning id
)
select array(select id::text from created) as created,
       found.count > :capacity::integer as has_more,
       case when found.count <= :capacity::integer then (select count(*)::integer from examined) end as examined,
       case when found.count <= :capacity::integer then (select id from examined order by id desc limit 1) end as last_examined,
       last.id as last_event_id, last.subscription_id as last_subscription_id
  from (select count(*) from numbered) as found
  left join lateral (select * from numbered where place <= :capacity::integer order by place desc limit 1) last on true`;

interface CreatedRow {
  readonly created: string[];
  /** Whether more deliveries are wanted than the capacity allows. */
  readonly has_more: boolean;
  readonly examined: number;
  readonly last_examined: string | null;
  readonly last_event_id: string | null;
  readonly last_subscription_id: string | null;
}

/** Creates as many deliveries as the capacity allows, and moves the resend's position. */
async function createDeliveries(tx: TenantTransaction, resend: ResendRow, capacity: number) {
  const parameters = candidateParameters(resend);
  const targets = await tx.execute<{ id: string }>(LOCK_TARGETS, parameters);
  if (targets.length === 0) return { created: 0, more: false };
  const [row] = await tx.execute<CreatedRow>(createSql(resend), {
    ...parameters,
    resendId: resend.id,
    capacity,
    targets: targets.map(({ id }) => id),
    afterSubscriptionId: resend.afterSubscriptionId,
  });
  const { created, has_more: hasMore, examined, ...position } = row!;
  resend.madeCount += BigInt(created.length);
  resend.openIds = [...resend.openIds, ...created];
  if (hasMore) {
    resend.afterEventId = position.last_event_id ?? resend.afterEventId;
    resend.afterSubscriptionId = position.last_subscription_id ?? resend.afterSubscriptionId;
  } else if (position.last_examined !== null) {
    resend.afterEventId = position.last_examined;
    resend.afterSubscriptionId = MAX;
  }
  return { created: created.length, more: hasMore || examined === MAX_EXAMINED_EVENTS };
}
