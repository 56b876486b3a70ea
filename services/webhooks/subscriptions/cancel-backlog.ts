import { randomUUID } from 'node:crypto';
import type { HandlerContext } from '@connectrpc/connect';
import { NIL } from 'uuid';
import { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { PeriodicTask } from '../../platform/process/periodic-tasks.ts';
import { requestIdOf } from '../../platform/rpc/call-context.ts';
import { type EnvironmentName, tenantOf } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { cancelOpenDeliveries } from '../deliveries/cancel-open-deliveries.ts';
import type { SubscriptionRequest } from './move-open-deliveries.ts';

/**
 * Cancels the remaining open deliveries of a subscription in short transactions; no effect unless it is DISABLED. None of
 * them is sent in the meantime.
 * @param forMs the time limit, in milliseconds; the periodic task cancels the rest.
 */
export async function cancelBacklog(
  writes: Writes,
  request: SubscriptionRequest,
  context: HandlerContext,
  forMs: number,
): Promise<void> {
  const endsAt = performance.now() + forMs;
  const cancelAfter = (after: string) =>
    writes.transaction(tenantOf(request), requestIdOf(context), async (tx) => {
      const { last } = await cancelOpenDeliveries(tx, 'subscription_id', request.subscriptionId, after);
      return last;
    });
  let last = await cancelAfter(NIL);
  while (last && performance.now() < endsAt) last = await cancelAfter(last);
}

const FIND_BACKLOG = `
select s.merchant_id, s.environment, s.id
  from webhooks.subscription s
 where s.state = 'DISABLED' and exists (
   select from webhooks.open_delivery d
    where d.merchant_id = s.merchant_id and d.environment = s.environment and d.subscription_id = s.id)
 limit 1`;

interface BacklogRow {
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly id: string;
}

/** Cancels deliveries of DISABLED subscriptions that were left open because time ran out or the process died. */
export const disabledBacklogs: PeriodicTask = {
  name: 'disabled-webhook-backlogs',
  intervalMs: 60_000,
  async runBatch(em) {
    const [found] = await em.execute<BacklogRow[]>(FIND_BACKLOG);
    if (!found) return { rows: 0, more: false };
    const tenant = { merchantId: found.merchant_id, environment: found.environment };
    const tx = new TenantTransaction(em, tenant, randomUUID());
    const { count } = await cancelOpenDeliveries(tx, 'subscription_id', found.id);
    return { rows: count, more: count > 0 };
  },
};
