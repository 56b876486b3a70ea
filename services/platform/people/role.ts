import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { EnumName } from '../enum-name.ts';

/** A role at a merchant, as the database names it. */
export type RoleName = EnumName<typeof Role>;

/** From the least to the most powerful: each may make the calls of those before it. */
const RANKS: Readonly<Record<Role, number>> = {
  [Role.UNSPECIFIED]: 0,
  [Role.VIEWER]: 1,
  [Role.FINANCE]: 2,
  [Role.DEVELOPER]: 3,
  [Role.ADMIN]: 4,
};

/** Whether a role includes the permissions of another. */
export const isAtLeast = (role: Role, needed: Role): boolean => RANKS[role] >= RANKS[needed];
