import type { DescMethod } from '@bufbuild/protobuf';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { isAtLeast } from '../../../services/platform/people/role.ts';
import { personRule } from '../../../services/platform/rpc/person-rules.ts';
import type { EnvironmentName } from '../../../services/platform/tenant.ts';
import type { layoutTexts } from './layout.texts.ts';
import type { View } from './view.ts';

export type Section = keyof (typeof layoutTexts)['en']['sections'];

/** Who may use a page or an action. */
export interface Access {
  /** The least powerful role with access. */
  readonly role: Role;
  /** The only environment that has it; both when absent. */
  readonly environment?: EnvironmentName;
}

/** Who may use a form, and see the page that it is on: who may call its RPC. */
export interface RpcAccess {
  readonly rpc: DescMethod;
}

/** Who may use a page: as stated, or as the RPC's rule says. Throws TypeError for an RPC whose rule has no role. */
export function accessOf(options: Access | RpcAccess): Access {
  if (!('rpc' in options)) return options;
  const { role, environment } = personRule(options.rpc) ?? {};
  if (role === undefined) throw new TypeError(`${options.rpc.name} has no role in person-rules.ts`);
  return { role, ...(environment && { environment }) };
}

/** Sections that a role does not see, although lesser roles do. */
const HIDDEN: Readonly<Partial<Record<Role, readonly Section[]>>> = { [Role.FINANCE]: ['webhooks'] };

/** Whether a role may open a page or submit a form of a section that requires a role. */
export function mayOpen(role: Role, { role: needed, section }: { role: Role; section: Section }): boolean {
  return isAtLeast(role, needed) && !HIDDEN[role]?.includes(section);
}

/** Whether the viewer sees a section that is open to all roles but those that it is hidden from. */
export const canSee = ({ role }: Pick<View, 'role'>, section: Section): boolean =>
  mayOpen(role, { role: Role.VIEWER, section });
