import { IS_LIMITED } from './attempt-limits.ts';
import { SLOW_AFTER_MS } from './dispatch-limits.ts';

/** Deliveries that wait for a batch, for a `from` clause. */
export const WAITING = `webhooks.open_delivery where status = 'PENDING' and batch_id is null`;

/** The number of attempts of a subscription in flight, and how many of them are slow: a lateral row `in_flight`. */
export const inFlightOf = (subscriptionId: string) => `(
     select count(*) as total,
            count(*) filter (where in_flight_since < now() - interval '${SLOW_AFTER_MS} ms') as slow
       from webhooks.open_delivery b
      where b.subscription_id = ${subscriptionId} and b.in_flight_since is not null and b.in_flight_until > now()
   ) in_flight`;

/** Whether a subscription has limits of its own. */
export const hasLimits = (subscriptionId: string) =>
  `exists (select from webhooks.subscription s where s.id = ${subscriptionId} and (${IS_LIMITED}))`;
