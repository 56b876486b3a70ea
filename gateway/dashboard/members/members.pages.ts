import { Code, ConnectError } from '@connectrpc/connect';
import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { pageParameter } from '../shell/components.ts';
import { refusalText } from '../shell/failures.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import type { Outcome } from '../shell/pages.ts';
import { isAtLeast, textsFor, type View } from '../shell/view.ts';
import { CONTACT_LANGUAGES } from './contact-form.ts';
import { invitationsPage } from './invitations.ts';
import { membersPage, type Refused } from './members.page.ts';
import { membersTexts } from './members.texts.ts';
import { INVITATIONS_PATH, MEMBERS_PATH } from './paths.ts';
import { ROLE_NAMES, ROLES } from './role.texts.ts';

const PLACE = { role: Role.ADMIN, section: 'members' } as const;
const ACTION = { ...PLACE, refusals: membersTexts };
const role = Type.Enum([...ROLE_NAMES]);
const email = Type.String({ maxLength: 254 });

/** The people of a merchant: who may do what here, who is invited, whom to write to. For administrators. */
export function membersPages(dependencies: FeatureDependencies): void {
  const { pages, clients } = dependencies;
  const query = Type.Object({ page: pageParameter });
  pages.page({ ...PLACE, path: MEMBERS_PATH, query }, (view, input) =>
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
    { ...ACTION, path: `${MEMBERS_PATH}/:accountId/role`, form: Type.Object({ role }) },
    async (view, { params: { accountId }, form, key }) => {
      const request = { ...view.tenant, idempotencyKey: key, accountId: accountId!, role: ROLES[form.role] };
      try {
        await accounts.changeMemberRole(request, view.call);
      } catch (error) {
        return refused(view, error);
      }
      // Who takes her own role away may not come back here.
      const mayStay = accountId !== view.person.accountId || isAtLeast(request.role, PLACE.role);
      return mayStay ? { redirect: MEMBERS_PATH, notice: 'role' } : { redirect: '' };
    },
  );
  pages.action(
    { ...ACTION, path: `${MEMBERS_PATH}/:accountId/remove` },
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
    { ...ACTION, path: `${MEMBERS_PATH}/invite`, form: Type.Object({ email, role }) },
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
    { ...ACTION, path: `${INVITATIONS_PATH}/:invitationId/revoke` },
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
  pages.action({ ...ACTION, path: `${MEMBERS_PATH}/contact`, form }, async (view, { form: typed, key }) => {
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

type Mended = (fault: string) => Pick<Refused, 'invitation' | 'contact'>;

/**
 * The page again, with what a service refused in words: at the field where there is one to mend, else above everything.
 * Throws what it has no words for.
 */
function showAgain(clients: FeatureDependencies['clients']) {
  return (view: View, error: unknown, mended?: Mended): Promise<Outcome> => {
    const isUnknown = error instanceof ConnectError && error.code === Code.NotFound;
    const isTyped = error instanceof ConnectError && error.code === Code.InvalidArgument;
    const said = refusalText(error, membersTexts, view.language);
    const text = isTyped && mended ? textsFor(view, membersTexts).emailFault : said;
    if (text === undefined || isUnknown) throw error;
    const again = mended ? { status: 422, ...mended(text) } : { status: 409, text };
    return membersPage(clients, view, {}, again);
  };
}
