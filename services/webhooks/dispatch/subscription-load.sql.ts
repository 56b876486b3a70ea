import { IS_LIMITED } from './attempt-limits.ts';
import { SLOW_AFTER_MS } from './dispatch-limits.ts';

/** What waits for a batch, for a `from` clause. */
export const WAITING = `webhooks.open_delivery where status = 'PENDING' and batch_id is null`;

/** How many attempts of a subscription are under way, and how many of these are slow: the row `busy`, lateral. */
export const busyOf = (subscriptionId: string) => `(
     select count(*) as total,
            count(*) filter (where busy_since < now() - interval '${SLOW_AFTER_MS} ms') as slow
       from webhooks.open_delivery b
      where b.subscription_id = ${subscriptionId} and b.busy_since is not null and b.busy_until > now()
   ) busy`;

/** Whether a subscription has limits of its own. */
export const hasLimits = (subscriptionId: string) =>
  `exists (select from webhooks.subscription s where s.id = ${subscriptionId} and (${IS_LIMITED}))`;
