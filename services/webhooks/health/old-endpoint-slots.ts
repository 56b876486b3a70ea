import { expiredRows } from '../../platform/process/expired-rows.ts';

/** Deletes counts of attempts after a day. */
export const oldEndpointSlots = expiredRows({
  name: 'old-endpoint-slots',
  table: 'webhooks.endpoint_slot',
  since: 'starts_at',
  age: "interval '1 day'",
});
