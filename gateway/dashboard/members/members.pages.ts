import { Code, ConnectError } from '@connectrpc/connect';
import { Type } from 'typebox';
import { AccountService, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { isAtLeast } from '../../../services/platform/people/role.ts';
import { pageParameter } from '../shell/components.ts';
import { refusalText } from '../shell/failures.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import type { Outcome } from '../shell/pages.ts';
import { textsFor, type View } from '../shell/view.ts';
import { CONTACT_LANGUAGES } from './contact-form.ts';
import { invitationsPage } from './invitations.ts';
import { membersPage, type Refused } from './members.page.ts';
import { membersTexts } from './members.texts.ts';
import { INVITATIONS_PATH, MEMBERS_PATH } from './paths.ts';
import { ROLE_NAMES, ROLES } from './role.texts.ts';

const SPEC = { role: Role.ADMIN, section: 'members' } as const;
const ACTION = { section: 'members', refusals: membersTexts } as const;
const RPCS = AccountService.method;
const role = Type.Enum(ROLE_NAMES);
const email = Type.String({ maxLength: 254 });

/** A merchant's team: members and their roles, invitations, and the contact. For administrators. */
export function membersPages(dependencies: FeatureDependencies): void {
  const { pages, clients } = dependencies;
  const query = Type.Object({ page: pageParameter });
  pages.page({ ...SPEC, path: MEMBERS_PATH, query }, (view, input) =>
    membersPage(clients, view, input.query),
  );
  invitationsPage(dependencies);
  memberActions(dependencies);
  invitationActions(dependencies);
  contactAction(dependencies);
}

function memberActions({ pages, clients }: FeatureDependencies): void {
  const { accounts } = clients;
  const refused = showAgain(clients);
  pages.action(
    {
      ...ACTION,
      rpc: RPCS.changeMemberRole,
      path: `${MEMBERS_PATH}/:accountId/role`,
      form: Type.Object({ role }),
    },
    async (view, { params: { accountId }, form, key }) => {
      const request = { ...view.tenant, idempotencyKey: key, accountId: accountId!, role: ROLES[form.role] };
      try {
        await accounts.changeMemberRole(request, view.call);
      } catch (error) {
        return refused(view, error);
      }
      // Administrators who lower their own role lose access to this page.
      const keepsAccess = accountId !== view.person.accountId || isAtLeast(request.role, SPEC.role);
      return keepsAccess ? { redirect: MEMBERS_PATH, notice: 'role' } : { redirect: '' };
    },
  );
  pages.action(
    { ...ACTION, rpc: RPCS.removeMember, path: `${MEMBERS_PATH}/:accountId/remove` },
    async (view, { params: { accountId }, key }) => {
      try {
        const request = { ...view.tenant, idempotencyKey: key, accountId: accountId! };
        await accounts.removeMember(request, view.call);
      } catch (error) {
        return refused(view, error);
      }
      return { redirect: MEMBERS_PATH, notice: 'removed' };
    },
  );
}

function invitationActions({ pages, clients }: FeatureDependencies): void {
  const { accounts } = clients;
  const refused = showAgain(clients);
  pages.action(
    {
      ...ACTION,
      rpc: RPCS.inviteMember,
      path: `${MEMBERS_PATH}/invite`,
      form: Type.Object({ email, role }),
    },
    async (view, { form, key }) => {
      const typed = { email: form.email.trim(), role: form.role };
      const language = CONTACT_LANGUAGES[view.language];
      const request = { ...view.tenant, idempotencyKey: key, ...typed, role: ROLES[form.role], language };
      try {
        await accounts.inviteMember(request, view.call);
      } catch (error) {
        return refused(view, error, (fault) => ({ invitation: { ...typed, fault } }));
      }
      return { redirect: MEMBERS_PATH, notice: 'invited' };
    },
  );
  pages.action(
    { ...ACTION, rpc: RPCS.revokeInvitation, path: `${INVITATIONS_PATH}/:invitationId/revoke` },
    async (view, { params: { invitationId }, key }) => {
      try {
        const request = { ...view.tenant, idempotencyKey: key, invitationId: invitationId! };
        await accounts.revokeInvitation(request, view.call);
      } catch (error) {
        return refused(view, error);
      }
      return { redirect: MEMBERS_PATH, notice: 'revoked' };
    },
  );
}

function contactAction({ pages, clients }: FeatureDependencies): void {
  const languages = Object.keys(CONTACT_LANGUAGES) as ['pt-BR', 'en'];
  const form = Type.Object({ contact: email, language: Type.Enum(languages) });
  const options = { ...ACTION, rpc: RPCS.setMerchantContact, path: `${MEMBERS_PATH}/contact`, form };
  pages.action(options, async (view, { form: typed, key }) => {
    const address = typed.contact.trim();
    const request = {
      ...view.tenant,
      idempotencyKey: key,
      language: CONTACT_LANGUAGES[typed.language],
      ...(address !== '' && { email: address }),
    };
    try {
      await clients.accounts.setMerchantContact(request, view.call);
    } catch (error) {
      const { language } = typed;
      return showAgain(clients)(view, error, (fault) => ({ contact: { email: address, language, fault } }));
    }
    return { redirect: MEMBERS_PATH, notice: 'contact' };
  });
}

type FieldFault = (fault: string) => Pick<Refused, 'invitation' | 'contact'>;

/**
 * Renders the page again with the message for a refused call: at the field that can be corrected, else at the top.
 * Rethrows errors without a message.
 */
function showAgain(clients: FeatureDependencies['clients']) {
  return (view: View, error: unknown, fieldFault?: FieldFault): Promise<Outcome> => {
    const isNotFound = error instanceof ConnectError && error.code === Code.NotFound;
    const isInvalid = error instanceof ConnectError && error.code === Code.InvalidArgument;
    const message = refusalText(error, membersTexts, view.language);
    const text = isInvalid && fieldFault ? textsFor(view, membersTexts).emailFault : message;
    if (text === undefined || isNotFound) throw error;
    const again = fieldFault ? { status: 422, ...fieldFault(text) } : { status: 409, text };
    return membersPage(clients, view, {}, again);
  };
}
