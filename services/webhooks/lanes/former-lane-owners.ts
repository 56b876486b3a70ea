import { expiredRows } from '../../platform/process/expired-rows.ts';

/** Deletes the processes that owned lanes and have died: those that stop delete themselves. */
export const formerLaneOwners = expiredRows({
  name: 'former-lane-owners',
  table: 'webhooks.lane_owner',
  since: 'leased_until',
  age: "interval '1 day'",
});
