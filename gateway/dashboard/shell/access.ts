import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { isAtLeast } from '../../../services/platform/people/role.ts';
import type { layoutTexts } from './layout.texts.ts';
import type { View } from './view.ts';

/** A section of the merchant's navigation. */
export type Section = keyof (typeof layoutTexts)['en']['sections'];

/** Sections that a role does not see, although lesser roles do. */
const HIDDEN: Readonly<Partial<Record<Role, readonly Section[]>>> = { [Role.FINANCE]: ['webhooks'] };

/** Whether a role may open a page or submit a form of a section that requires a role. */
export function mayOpen(role: Role, { role: needed, section }: { role: Role; section: Section }): boolean {
  return isAtLeast(role, needed) && !HIDDEN[role]?.includes(section);
}

/** Whether the viewer sees a section that is open to all roles but those that it is hidden from. */
export const sees = ({ role }: Pick<View, 'role'>, section: Section): boolean =>
  mayOpen(role, { role: Role.VIEWER, section });
