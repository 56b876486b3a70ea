import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

/** An object whose events an ordered subscription receives one after another. */
export interface OrderedObjectRow {
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly subscription_id: string;
  readonly object_id: string;
}

/**
 * Unblocks the first open delivery of each object, if it is BLOCKED: the owner of its lane reads it next. Returns the
 * objects whose delivery or subscription it could not lock. A concurrent pause or resume waits for the key share lock, or
 * is visible to it. Rows are looked up by their id alone, one at a time: without statistics of a backlog, a plan could read
 * all BLOCKED deliveries of the merchant for each object.
 * @param objects a relation of (merchant_id, environment, subscription_id, object_id).
 * @param locked what to do with rows that another transaction has locked: wait for them, or skip them.
 */
const unblockSql = (objects: string, locked: '' | 'skip locked') => `
with first as materialized (
  select input.*, d.id
    from ${objects} as input
   cross join lateral (
     select merchant_id, environment, id, status from webhooks.open_delivery
      where ordered and subscription_id = input.subscription_id and object_id = input.object_id
      order by sequence limit 1
   ) d
   where d.status = 'BLOCKED' and d.merchant_id = input.merchant_id and d.environment = input.environment
), subscription as materialized (
  select s.*
    from (select distinct merchant_id, environment, subscription_id from first) object
   cross join lateral (
     select merchant_id, environment, id, paused_at from webhooks.subscription
      where id = object.subscription_id limit 1 for key share ${locked}
   ) s
   where s.merchant_id = object.merchant_id and s.environment = object.environment
), free as materialized (
  select d.id, s.paused_at
    from first
    join subscription s
      on s.merchant_id = first.merchant_id and s.environment = first.environment and s.id = first.subscription_id
   cross join lateral (
     select merchant_id, environment, id from webhooks.open_delivery
      where id = first.id and status = 'BLOCKED' limit 1 for no key update ${locked}
   ) d
   where d.merchant_id = first.merchant_id and d.environment = first.environment
), unblocked as (
  update webhooks.open_delivery d
     set status = case when free.paused_at is null then 'PENDING' else 'HELD' end, changed_xid = pg_current_xact_id()
    from free where d.id = free.id
)
select merchant_id, environment, subscription_id, object_id from first where id not in (select id from free)`;

const UNBLOCK_NEXT = unblockSql(
  `(select :merchantId::uuid as merchant_id, :environment::text as environment,
           :subscriptionId::uuid as subscription_id, :objectId::text as object_id)`,
  '',
);

/**
 * Unblocks the object's next delivery. Call it after ending an ordered delivery in this transaction, which has locked the
 * merchant's subscriptions before: no event of the object is being published meanwhile.
 */
export async function unblockNext(
  tx: TenantTransaction,
  object: { readonly subscriptionId: string; readonly objectId: string },
): Promise<void> {
  await tx.execute(UNBLOCK_NEXT, { ...object });
}

const UNBLOCK: Statement = {
  name: 'unblock_deliveries',
  text: unblockSql(
    `(
  select distinct * from unnest(:merchantIds::uuid[], :environments::text[], :subscriptionIds::uuid[], :objectIds::text[])
                      as input (merchant_id, environment, subscription_id, object_id))`,
    'skip locked',
  ),
};

/**
 * Unblocks the first open delivery of each object, if it is BLOCKED.
 * @returns the objects for which to try again, because another transaction has locked the delivery or its subscription. It
 *   does not wait for that transaction, whose process may be paused.
 */
export async function unblockDeliveries(
  run: Run,
  objects: readonly OrderedObjectRow[],
): Promise<OrderedObjectRow[]> {
  if (objects.length === 0) return [];
  return run<OrderedObjectRow>(UNBLOCK, {
    merchantIds: objects.map(({ merchant_id }) => merchant_id),
    environments: objects.map(({ environment }) => environment),
    subscriptionIds: objects.map(({ subscription_id }) => subscription_id),
    objectIds: objects.map(({ object_id }) => object_id),
  });
}

/** Objects whose first open delivery is BLOCKED, found by index jumps. Those of DISABLED subscriptions are being canceled. */
export const FIND_BLOCKED: Statement = {
  name: 'find_blocked_objects',
  text: `
with recursive subscription as materialized (
  select s.id from webhooks.subscription s
   where s.ordered and s.state <> 'DISABLED' and s.lane = any (:lanes::smallint[])
     and exists (select from webhooks.open_delivery d where d.subscription_id = s.id and d.status = 'BLOCKED')
), object (subscription_id, object_id) as (
  select s.id, first.object_id
    from subscription s
   cross join lateral (
     select d.object_id from webhooks.open_delivery d
      where d.ordered and d.subscription_id = s.id order by d.object_id limit 1) first
  union all
  select object.subscription_id, next.object_id
    from object
   cross join lateral (
     select d.object_id from webhooks.open_delivery d
      where d.ordered and d.subscription_id = object.subscription_id and d.object_id > object.object_id
      order by d.object_id limit 1) next
)
select first.merchant_id, first.environment, first.subscription_id, first.object_id
  from object
 cross join lateral (
   select d.* from webhooks.open_delivery d
    where d.ordered and d.subscription_id = object.subscription_id and d.object_id = object.object_id
    order by d.sequence limit 1) first
 where first.status = 'BLOCKED'`,
};

/** The pause before objects that another transaction had locked are tried again. */
const TRY_AGAIN_MS = 100;

/** Unblocks deliveries: those of known objects at once, and all of a lane in the background. */
export class Unblocker {
  readonly #run: Run;
  readonly #logger: Logger;
  readonly #lanes = new Set<number>();
  /** Objects whose delivery or subscription another transaction had locked. */
  #locked: OrderedObjectRow[] = [];
  #isRunning = false;

  constructor(run: Run, logger: Logger) {
    this.#run = run;
    this.#logger = logger;
  }

  /** Unblocks the next delivery of each object, soon if another transaction has locked it. */
  async unblock(objects: readonly OrderedObjectRow[]): Promise<void> {
    const locked = await unblockDeliveries(this.#run, objects);
    // Not in one expression: a pass that starts meanwhile replaces the array.
    this.#locked.push(...locked);
    if (this.#lanes.size + this.#locked.length > 0) this.#start();
  }

  /**
   * Unblocks deliveries that an earlier owner of these lanes left BLOCKED, because it died between ending a delivery and
   * unblocking the next. Runs concurrently with reading, because a merchant may have a million BLOCKED deliveries;
   * reading finds those that it unblocks. One pass runs at a time, over all lanes that were added before it began.
   */
  addLanes(lanes: readonly number[]): void {
    for (const lane of lanes) this.#lanes.add(lane);
    this.#start();
  }

  #start(): void {
    if (!this.#isRunning) void this.#runPasses();
  }

  async #runPasses(): Promise<void> {
    this.#isRunning = true;
    let hasFailed = false;
    while (!hasFailed && this.#lanes.size + this.#locked.length > 0) {
      if (this.#lanes.size === 0) await delay(TRY_AGAIN_MS, undefined, { ref: false });
      const lanes = [...this.#lanes];
      const locked = this.#locked;
      this.#lanes.clear();
      this.#locked = [];
      await this.#unblockAll(lanes, locked).catch((error: unknown) => {
        this.#logger.warn({ err: error }, 'could not unblock deliveries; trying again with the next read');
        for (const lane of lanes) this.#lanes.add(lane);
        this.#locked.push(...locked);
        hasFailed = true;
      });
    }
    this.#isRunning = false;
  }

  async #unblockAll(lanes: readonly number[], locked: readonly OrderedObjectRow[]): Promise<void> {
    const blocked = lanes.length > 0 ? await this.#run<OrderedObjectRow>(FIND_BLOCKED, { lanes }) : [];
    await this.unblock([...locked, ...blocked]);
  }
}
