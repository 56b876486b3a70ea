import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { Type } from 'typebox';
import { type Invitation, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  badge,
  dataTable,
  field,
  form,
  hiddenFields,
  inputField,
  moment,
  pageParameter,
  pager,
  select,
} from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
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

/** Open and expired invitations, newest first. */
export async function listInvitations(view: View, pageSize: number, pageToken = '') {
  return view.clients.accounts.listInvitations({ includeExpired: true, pageSize, pageToken });
}

/** Invitations, each with a button to revoke it; an expired one also with a button to invite again. */
export function invitationTable(view: View, invitations: readonly Invitation[]): Html {
  const t = textsFor(view, membersTexts);
  const roles = textsFor(view, roleTexts);
  const now = new Date();
  return dataTable<Invitation>(
    t.invitationsHint,
    [
      { label: t.email, isFreeText: true, cell: ({ email }) => email },
      { label: t.role, cell: ({ role }) => badge('off', roles[roleName(role)]) },
      {
        label: t.until,
        cell: ({ expiresAt }) =>
          html`<div>${moment(view, expiresAt)}${isExpired(expiresAt, now) ? html` ${badge('busy', t.expired)}` : nothing}</div>`,
      },
      {
        label: t.action,
        cell: (invitation) => invitationActions(view, invitation, isExpired(invitation.expiresAt, now)),
      },
    ],
    invitations,
    t.noInvitations,
  );
}

const isExpired = (at: Timestamp | undefined, now: Date) => at !== undefined && timestampDate(at) <= now;

function invitationActions(view: View, { id, email, role }: Invitation, hasExpired: boolean): Html {
  const t = textsFor(view, membersTexts);
  const action = `${INVITATIONS_PATH}/${id}/revoke`;
  if (!hasExpired) return form(view, { action, submit: t.revoke, tone: 'plain' });
  const fields = hiddenFields({ email, role: roleName(role) });
  return html`<div>${form(view, { action: `${MEMBERS_PATH}/invite`, submit: t.inviteAgain, tone: 'plain', fields })}
${form(view, { action, submit: t.dismiss, tone: 'plain' })}</div>`;
}

/** The paginated list of all invitations that are open or expired. */
export function invitationsPage(pages: Pages): void {
  const query = Type.Object({ page: pageParameter });
  const options = { path: INVITATIONS_PATH, role: Role.ADMIN, section: 'members', query } as const;
  pages.page(options, async (view, { query: { page: pageToken } }) => {
    const t = textsFor(view, membersTexts);
    const { invitations, nextPageToken } = await listInvitations(view, PAGE_SIZE, pageToken);
    return {
      title: t.invitations,
      body: html`${invitationTable(view, invitations)}
${pager(view, nextPageToken)}
<p><a href="${pathTo(view, MEMBERS_PATH)}">${t.back}</a></p>`,
    };
  });
}
