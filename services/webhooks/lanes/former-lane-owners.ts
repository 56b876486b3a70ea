import { expiredRows } from '../../platform/process/expired-rows.ts';

/** Deletes the records of lane owners that have died; processes that stop delete their own. */
export const formerLaneOwners = expiredRows({
  name: 'former-lane-owners',
  table: 'webhooks.lane_owner',
  since: 'leased_until',
  age: "interval '1 day'",
});
