import { Code } from '@connectrpc/connect';
import { Type } from 'typebox';
import { AccountService, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { isAtLeast } from '../../../services/platform/people/role.ts';
import { codeOf, refusalText } from '../shell/failures.ts';
import type { Outcome, Pages } from '../shell/pages.ts';
import { textsFor, type View } from '../shell/view.ts';
import { CONTACT_LANGUAGES } from './contact-form.ts';
import { INVITATIONS_PATH, MEMBERS_PATH } from './invitations.ts';
import { type Refused, renderMembers } from './members.page.ts';
import { membersTexts } from './members.texts.ts';
import { ROLE_NAMES, ROLES } from './role.texts.ts';

const ACTION = { section: 'members', refusals: membersTexts } as const;
const RPCS = AccountService.method;
const role = Type.Enum(ROLE_NAMES);
const email = Type.String({ maxLength: 254 });

export function memberActions(pages: Pages): void {
  const form = Type.Object({ role });
  const changeRole = { ...ACTION, rpc: RPCS.changeMemberRole, path: `${MEMBERS_PATH}/:accountId/role`, form };
  pages.action(changeRole, async (view, { params, form: typed, key }) => {
    const accountId = params.accountId!;
    const request = { idempotencyKey: key, accountId, role: ROLES[typed.role] };
    const call = view.clients.accounts.changeMemberRole(request);
    // Administrators who lower their own role lose access to this page.
    const keepsAccess = accountId !== view.person.accountId || isAtLeast(request.role, Role.ADMIN);
    return outcomeOf(view, call, { redirect: keepsAccess ? MEMBERS_PATH : '', notice: 'role' });
  });
  const remove = { ...ACTION, rpc: RPCS.removeMember, path: `${MEMBERS_PATH}/:accountId/remove` };
  pages.action(remove, async (view, { params, key }) => {
    const request = { idempotencyKey: key, accountId: params.accountId! };
    const call = view.clients.accounts.removeMember(request);
    return outcomeOf(view, call, { redirect: MEMBERS_PATH, notice: 'removed' });
  });
}

export function invitationActions(pages: Pages): void {
  const form = Type.Object({ email, role });
  const invite = { ...ACTION, rpc: RPCS.inviteMember, path: `${MEMBERS_PATH}/invite`, form };
  pages.action(invite, async (view, { form: { role, ...submitted }, key }) => {
    const typed = { email: submitted.email.trim(), role };
    const language = CONTACT_LANGUAGES[view.language];
    const request = { idempotencyKey: key, ...typed, role: ROLES[role], language };
    const call = view.clients.accounts.inviteMember(request);
    const done = { redirect: MEMBERS_PATH, notice: 'invited' };
    return outcomeOf(view, call, done, (fault) => ({ invitation: { ...typed, fault } }));
  });
  const revoke = { ...ACTION, rpc: RPCS.revokeInvitation, path: `${INVITATIONS_PATH}/:invitationId/revoke` };
  pages.action(revoke, async (view, { params, key }) => {
    const request = { idempotencyKey: key, invitationId: params.invitationId! };
    const call = view.clients.accounts.revokeInvitation(request);
    return outcomeOf(view, call, { redirect: MEMBERS_PATH, notice: 'revoked' });
  });
}

export function contactAction(pages: Pages): void {
  const languages = Object.keys(CONTACT_LANGUAGES) as ['pt-BR', 'en'];
  const form = Type.Object({ contact: email, language: Type.Enum(languages) });
  const options = { ...ACTION, rpc: RPCS.setMerchantContact, path: `${MEMBERS_PATH}/contact`, form };
  pages.action(options, async (view, { form: { contact, language }, key }) => {
    const address = contact.trim();
    const request = {
      idempotencyKey: key,
      language: CONTACT_LANGUAGES[language],
      ...(address !== '' && { email: address }),
    };
    const call = view.clients.accounts.setMerchantContact(request);
    const done = { redirect: MEMBERS_PATH, notice: 'contact' };
    return outcomeOf(view, call, done, (fault) => ({
      contact: { email: address, language, fault },
    }));
  });
}

/**
 * What an action responds with: `done`, or the page again with the message for a refused call, at the field that can be
 * corrected, else at the top. Rethrows errors without a message.
 */
async function outcomeOf(
  view: View,
  call: Promise<unknown>,
  done: Outcome,
  fieldFault?: (fault: string) => Pick<Refused, 'invitation' | 'contact'>,
): Promise<Outcome> {
  try {
    await call;
    return done;
  } catch (error) {
    const isNotFound = codeOf(error) === Code.NotFound;
    const isInvalid = codeOf(error) === Code.InvalidArgument;
    const message = refusalText(error, membersTexts, view.language);
    const text = isInvalid && fieldFault ? textsFor(view, membersTexts).emailFault : message;
    if (text === undefined || isNotFound) throw error;
    const again = fieldFault ? { status: 422, ...fieldFault(text) } : { status: 409, text };
    return renderMembers(view, { refused: again });
  }
}
