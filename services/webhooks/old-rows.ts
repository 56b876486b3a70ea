import { expiredRows } from '../platform/process/expired-rows.ts';

/** Deletes resends a year after they ended. Their events and deliveries were dropped long before. */
export const endedResends = expiredRows({
  name: 'ended-resends',
  table: 'webhooks.resend',
  since: 'ended_at',
  age: "interval '1 year'",
});

/** Deletes subscriptions a year after a person deleted them. Their deliveries were dropped long before. */
export const deletedSubscriptions = expiredRows({
  name: 'deleted-webhook-subscriptions',
  table: 'webhooks.subscription',
  since: 'deleted_at',
  age: "interval '1 year'",
});

/** Deletes the records of lane owners that have died; processes that stop delete their own. */
export const formerLaneOwners = expiredRows({
  name: 'former-lane-owners',
  table: 'webhooks.lane_owner',
  since: 'leased_until',
  age: "interval '1 day'",
});

/** Deletes counts of attempts after a day. */
export const oldEndpointSlots = expiredRows({
  name: 'old-endpoint-slots',
  table: 'webhooks.endpoint_slot',
  since: 'starts_at',
  age: "interval '1 day'",
});
