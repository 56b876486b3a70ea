import { expiredRows } from '../../platform/process/expired-rows.ts';

/** Deletes subscriptions a year after a person deleted them. Their deliveries were dropped long before. */
export const deletedSubscriptions = expiredRows({
  name: 'deleted-webhook-subscriptions',
  table: 'webhooks.subscription',
  since: 'deleted_at',
  age: "interval '1 year'",
});
