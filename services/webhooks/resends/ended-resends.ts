import { expiredRows } from '../../platform/process/expired-rows.ts';

/** Deletes resends a year after they ended. Their events and deliveries were dropped long before. */
export const endedResends = expiredRows({
  name: 'ended-resends',
  table: 'webhooks.resend',
  since: 'ended_at',
  age: "interval '1 year'",
});
