/** Roles by what they may do: each may do what those before it may. */
const ROLES = ['VIEWER', 'DEVELOPER', 'ADMIN'] as const;

export type RoleName = (typeof ROLES)[number];

/** The one of two roles that may do more. */
export function higherRole(one: RoleName, other: RoleName): RoleName {
  return ROLES.indexOf(one) > ROLES.indexOf(other) ? one : other;
}
