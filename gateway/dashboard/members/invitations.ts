import { Type } from 'typebox';
import { type Invitation, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  badge,
  dataTable,
  field,
  form,
  inputField,
  moment,
  pageParameter,
  pager,
  select,
} from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { membersTexts } from './members.texts.ts';
import { ROLE_NAMES, type RoleName, roleName, roleOptions, roleTexts } from './role.texts.ts';

/** Paths below the merchant's. */
export const MEMBERS_PATH = '/members';
export const INVITATIONS_PATH = `${MEMBERS_PATH}/invitations`;

const PAGE_SIZE = 50;

/** The submitted values of a rejected form, and why it was rejected. */
export interface InvitationEntry {
  readonly email: string;
  readonly role: RoleName;
  readonly fault: string;
}

/** The invitation form, empty or with rejected values. */
export function inviteForm(view: View, entry?: InvitationEntry): Html {
  const t = textsFor(view, membersTexts);
  const roles = textsFor(view, roleTexts);
  const fields = html`${inputField(
    { name: 'email', label: t.email, hint: t.emailHint, fault: entry?.fault },
    entry?.email ?? '',
    html`type="email" required maxlength="254" autocomplete="off"`,
  )}
${field({ name: 'role', label: t.role }, select(roleOptions(view), entry?.role ?? 'viewer'))}
<ul class="hint">${ROLE_NAMES.map((name) => html`<li><strong>${roles[name]}</strong> ${roles.hints[name]}</li>`)}</ul>`;
  return form(view, { action: `${MEMBERS_PATH}/invite`, submit: t.sendInvitation, fields });
}

/** Open invitations, each with a button to revoke it. */
export function invitationTable(view: View, invitations: readonly Invitation[]): Html {
  const t = textsFor(view, membersTexts);
  const roles = textsFor(view, roleTexts);
  return dataTable<Invitation>(
    t.invitationsHint,
    [
      { label: t.email, isFreeText: true, cell: ({ email }) => email },
      { label: t.role, cell: ({ role }) => badge('off', roles[roleName(role)]) },
      { label: t.until, cell: ({ expiresAt }) => moment(view, expiresAt) },
      {
        label: t.action,
        cell: ({ id }) =>
          form(view, { action: `${INVITATIONS_PATH}/${id}/revoke`, submit: t.revoke, tone: 'plain' }),
      },
    ],
    invitations,
    t.noInvitations,
  );
}

/** The paginated list of all open invitations. */
export function invitationsPage(pages: Pages): void {
  const query = Type.Object({ page: pageParameter });
  const options = { path: INVITATIONS_PATH, role: Role.ADMIN, section: 'members', query } as const;
  pages.page(options, async (view, { query: { page: pageToken = '' } }) => {
    const t = textsFor(view, membersTexts);
    const request = { pageSize: PAGE_SIZE, pageToken };
    const { invitations, nextPageToken } = await view.clients.accounts.listInvitations(request);
    return {
      title: t.invitations,
      body: html`${invitationTable(view, invitations)}
${pager(view, nextPageToken)}
<p><a href="${pathTo(view, MEMBERS_PATH)}">${t.back}</a></p>`,
    };
  });
}
