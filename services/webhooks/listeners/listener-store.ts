import { v7 as uuidv7 } from 'uuid';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { failedPrecondition } from '../../platform/errors.ts';
import { cancelOpenDeliveries } from '../deliveries/cancel-open-deliveries.ts';
import { SubscriptionEntity } from '../subscriptions/subscription.entity.ts';
import { lockSubscriptions, subscriptionNotFound } from '../subscriptions/subscription-store.ts';

/** A listener whose process has not renewed it for this long has lost its connection. */
const LEASE_MS = 45_000;
const MAX_LISTENERS = 20;

interface NewListener {
  /** The URL that its machine forwards deliveries to. */
  readonly forwardsTo: string;
  readonly eventTypes: readonly string[];
}

/**
 * Adds a listener: a subscription that receives every matching event that commits from now on. Returns its id.
 * FAILED_PRECONDITION (LISTENER_LIMIT_REACHED).
 */
export async function addListener(
  tx: TenantTransaction,
  { forwardsTo, eventTypes }: NewListener,
): Promise<string> {
  await lockSubscriptions(tx);
  await requireBelowListenerLimit(tx);
  const now = new Date();
  const id = uuidv7();
  tx.create(SubscriptionEntity, {
    id,
    url: forwardsTo,
    // Unique, because several machines may forward to the same local URL.
    uniqueUrl: `listener ${id}`,
    description: '',
    eventTypes: [...eventTypes],
    state: 'ACTIVE',
    generation: 1n,
    createdAt: now,
    holding: false,
    ordered: false,
    listeningUntil: new Date(now.getTime() + LEASE_MS),
  });
  await tx.flush();
  return id;
}

async function requireBelowListenerLimit(tx: TenantTransaction): Promise<void> {
  const [row] = await tx.execute<{ listening: string }>(
    `select count(*) as listening from webhooks.subscription
      where merchant_id = :merchantId and environment = :environment and listening_until > now()`,
  );
  if (Number(row!.listening) < MAX_LISTENERS) return;
  throw failedPrecondition('LISTENER_LIMIT_REACHED', `a merchant has at most ${MAX_LISTENERS} listeners`, {
    limit: String(MAX_LISTENERS),
  });
}

const LISTENER = `merchant_id = :merchantId and environment = :environment and id = :id
   and listening_until is not null and state <> 'DISABLED'`;

/** Extends a listener's lease; false if it has been removed. */
export async function renewListener(tx: TenantTransaction, id: string): Promise<boolean> {
  const renewed = await tx.execute<{ id: string }>(
    `update webhooks.subscription set listening_until = now() + interval '${LEASE_MS} ms'
      where ${LISTENER} returning id`,
    { id },
  );
  return renewed.length > 0;
}

/** NOT_FOUND (WEBHOOK_SUBSCRIPTION_NOT_FOUND): the merchant has no such listener. */
export async function requireListener(tx: TenantTransaction, id: string): Promise<void> {
  const found = await tx.execute<{ id: string }>(`select id from webhooks.subscription where ${LISTENER}`, {
    id,
  });
  if (found.length === 0) throw subscriptionNotFound();
}

const DISABLE = `
update webhooks.subscription
   set state = 'DISABLED', disabled_at = now(), disabled_position = :position, generation = generation + 1
 where ${LISTENER}`;

const DELETE = `
delete from webhooks.subscription
 where merchant_id = :merchantId and environment = :environment and id = :id and listening_until is not null`;

/**
 * Cancels up to a thousand open deliveries of a listener, which receives no more events, and deletes it once it has none.
 * Returns whether it is gone.
 */
export async function removeListener(tx: TenantTransaction, id: string): Promise<boolean> {
  const position = String(await lockSubscriptions(tx));
  await tx.execute(DISABLE, { id, position });
  const { last } = await cancelOpenDeliveries(tx, 'subscription_id', id);
  if (last !== undefined) return false;
  await tx.execute(DELETE, { id });
  return true;
}
