import { Type } from 'typebox';
import { type Member, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { leaveForm } from '../home/home.page.ts';
import {
  badge,
  confirmForm,
  dataTable,
  form,
  moment,
  notice,
  pageParameter,
  pager,
  select,
} from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { type Page, pathTo, textsFor, type View } from '../shell/view.ts';
import { type ContactEntry, contactForm } from './contact-form.ts';
import {
  INVITATIONS_PATH,
  type InvitationEntry,
  invitationTable,
  inviteForm,
  listInvitations,
  MEMBERS_PATH,
} from './invitations.ts';
import { membersTexts } from './members.texts.ts';
import { roleName, roleOptions } from './role.texts.ts';

const PAGE_SIZE = 25;
const MAX_INVITATIONS = 10;

/** A rejected form, to be shown again. */
export interface Refused {
  /** 422 when the values can be corrected, 409 when the current state does not allow it. */
  readonly status: number;
  /** Shown at the top of the page. */
  readonly text?: string;
  readonly invitation?: InvitationEntry;
  readonly contact?: ContactEntry;
}

/** A merchant's team: members and their roles, open invitations and the contact. For administrators. */
export function membersPage(pages: Pages): void {
  const query = Type.Object({ page: pageParameter });
  const options = { path: MEMBERS_PATH, role: Role.ADMIN, section: 'members', query } as const;
  pages.page(options, (view, { query: { page } }) => renderMembers(view, { page }));
}

interface Shown {
  /** The page token of the members. */
  readonly page?: string | undefined;
  readonly refused?: Refused;
}

/** Renders the page, with a form that was refused. */
export async function renderMembers(requestView: View, { page = '', refused }: Shown): Promise<Page> {
  // A refused form may be on the page of invitations, which the pager cannot link to.
  const view = refused ? { ...requestView, url: pathTo(requestView, MEMBERS_PATH) } : requestView;
  const t = textsFor(view, membersTexts);
  const [{ members, nextPageToken }, invitations, contact] = await Promise.all([
    view.clients.accounts.listMembers({ pageSize: PAGE_SIZE, pageToken: page }),
    listInvitations(view, MAX_INVITATIONS),
    view.clients.accounts.getMerchantContact({}),
  ]);
  const more = invitations.nextPageToken !== '';
  return {
    title: t.title,
    ...(refused && { status: refused.status }),
    notices: t.notices,
    body: html`${refused?.text ? notice('bad', refused.text) : nothing}
<p>${t.lead}</p>
${memberTable(view, members)}
${pager(view, nextPageToken)}
<h2>${t.invite}</h2>
${inviteForm(view, refused?.invitation)}
<h2>${t.invitations}</h2>
${invitationTable(view, invitations.invitations)}
${more ? html`<p><a href="${pathTo(view, INVITATIONS_PATH)}">${t.allInvitations}</a></p>` : nothing}
<h2>${t.contact}</h2>
${contactForm(view, contact, refused?.contact)}`,
  };
}

function memberTable(view: View, members: readonly Member[]): Html {
  const t = textsFor(view, membersTexts);
  const isSelf = ({ account }: Member) => account!.id === view.person.accountId;
  return dataTable<Member>(
    t.members,
    [
      {
        label: t.person,
        isFreeText: true,
        cell: (member) => {
          const { name, email, emailVerified } = member.account!;
          const mark = email !== '' && !emailVerified ? badge('busy', t.unverified) : nothing;
          return html`<div><strong>${name || email || t.noAddress}</strong> ${isSelf(member) ? badge('good', t.you) : nothing}<br><span class="soft whole">${email || t.noAddress}</span> ${mark}</div>`;
        },
      },
      { label: t.role, cell: (member) => roleForm(view, member) },
      { label: t.since, cell: ({ createdAt }) => moment(view, createdAt) },
      {
        label: t.action,
        cell: (member) =>
          isSelf(member) ? leaveForm(view, view.person, view.merchantId) : removeForm(view, member),
      },
    ],
    members,
    t.none,
  );
}

function roleForm(view: View, { account, role }: Member): Html {
  const t = textsFor(view, membersTexts);
  const who = account!.email || account!.id;
  const fields = select(roleOptions(view), roleName(role))(html`name="role" aria-label="${t.roleOf(who)}"`);
  const action = `${MEMBERS_PATH}/${account!.id}/role`;
  return html`<div class="role-of">${form(view, { action, submit: t.save, tone: 'plain', fields })}</div>`;
}

function removeForm(view: View, { account }: Member): Html {
  const t = textsFor(view, membersTexts);
  return confirmForm(view, t.remove, {
    action: `${MEMBERS_PATH}/${account!.id}/remove`,
    submit: t.remove,
    tone: 'danger',
    text: t.removeText(account!.name || account!.email || account!.id),
  });
}
