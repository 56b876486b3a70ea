/** Roles in ascending order: each includes the permissions of those before it. */
const ROLES = ['VIEWER', 'DEVELOPER', 'ADMIN'] as const;

export type RoleName = (typeof ROLES)[number];

/** The role with more permissions. */
export function higherRole(one: RoleName, other: RoleName): RoleName {
  return ROLES.indexOf(one) > ROLES.indexOf(other) ? one : other;
}
