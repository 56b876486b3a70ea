import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Invitation, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { callFor } from '../../clients.ts';
import { callAsPerson } from '../dashboard-caller.ts';
import { roleName, roleTexts } from '../members/role.texts.ts';
import { ownFormHooks, redirectFormUrl } from '../session/own-form.ts';
import { moment, notice, pager, personForm } from '../shell/components.ts';
import type { RouteDependencies } from '../shell/dependencies.ts';
import { failureOf, reasonOf } from '../shell/failures.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { layoutTexts } from '../shell/layout.texts.ts';
import { sendPage } from '../shell/layout.ts';
import { ID } from '../shell/pages.ts';
import { merchantText, type Page, type Person, type PlainView, textsFor } from '../shell/view.ts';
import { homeTexts } from './home.texts.ts';

const ACCEPT_PATH = '/invitations/:merchantId/:invitationId/accept';
const LEAVE_PATH = '/merchants/:merchantId/leave';
const PAGE_SIZE = 30;
const id = () => Type.String({ pattern: ID.source });
const body = Type.Object({ _key: id() });
const querystring = Type.Object({ page: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })) });

/**
 * The home page: a person's merchants and invitations. The actions concern only themselves, so they require no role. A
 * role applies to both environments; changes to it are recorded in the audit trail of live.
 */
export function homePages({ app, guard, accounts }: RouteDependencies): void {
  const ownForm = ownFormHooks(guard);
  const { onRequest } = ownForm;

  const render = async (view: PlainView, request: FastifyRequest, shown: Pick<Home, 'first' | 'refused'>) => {
    const person = request.person!;
    const { accountId } = person;
    const { invitations } = await accounts.listAccountInvitations({ accountId }, callFor(request));
    return homePage(view, person, { ...shown, invitations });
  };
  app.get('/', { onRequest, schema: { querystring } }, async (request, reply) => {
    const view = guard.plainViewOf(request);
    return sendPage(reply, view, await render(view, request, { first: request.query.page ?? 0 }));
  });

  redirectFormUrl(app, ACCEPT_PATH, '/');
  app.post(
    ACCEPT_PATH,
    { ...ownForm, schema: { body, params: Type.Object({ merchantId: id(), invitationId: id() }) } },
    async (request, reply) => {
      const { merchantId, invitationId } = request.params;
      try {
        await accounts.acceptInvitation({ ...writeOf(request), invitationId }, callAsPerson(request));
        return reply.redirect(`/live/${merchantId}`, 303);
      } catch (error) {
        throw failureOf(error, homeTexts);
      }
    },
  );

  redirectFormUrl(app, LEAVE_PATH, '/');
  app.post(
    LEAVE_PATH,
    { ...ownForm, schema: { body, params: Type.Object({ merchantId: id() }) } },
    async (request, reply) => {
      try {
        await accounts.removeMember(writeOf(request), callAsPerson(request));
        return reply.redirect('/?notice=left', 303);
      } catch (error) {
        if (reasonOf(error) !== 'LAST_ADMIN') throw failureOf(error, homeTexts);
        const view = { ...guard.plainViewOf(request), url: '/' };
        const refused = lastAdmin(view, request.params.merchantId);
        return sendPage(reply, view, {
          ...(await render(view, request, { first: 0, refused })),
          status: 409,
        });
      }
    },
  );
}

interface OwnForm extends Pick<FastifyRequest, 'person'> {
  readonly params: { readonly merchantId: string };
  readonly body: { readonly _key: string };
}

/** The request of a write that concerns only the signed-in person. */
const writeOf = ({ params: { merchantId }, body: { _key }, person }: OwnForm) => ({
  merchantId,
  environment: Environment.LIVE,
  idempotencyKey: _key,
  accountId: person!.accountId,
});

/** Says why a merchant's last administrator cannot leave, with a link to the team. */
function lastAdmin(view: PlainView, merchantId: string): Html {
  const t = textsFor(view, homeTexts);
  return notice('bad', html`${t.refusals.LAST_ADMIN} <a href="/live/${merchantId}/members">${t.toTeam}</a>`);
}

interface Home {
  readonly invitations: readonly Invitation[];
  /** The index of the first merchant shown. */
  readonly first: number;
  /** Why a form was refused. */
  readonly refused?: Html;
}

function homePage(view: PlainView, person: Person, { invitations, first, refused }: Home): Page {
  const t = textsFor(view, homeTexts);
  const merchants = [...person.roles];
  const shown = merchants.slice(first, first + PAGE_SIZE);
  const next = first + PAGE_SIZE < merchants.length ? String(first + PAGE_SIZE) : '';
  return {
    title: t.title,
    notices: { left: t.left },
    body: html`${refused ?? nothing}${invitations.length > 0 ? invitationList(view, person, invitations) : nothing}
${
  merchants.length > 0
    ? html`<p>${t.lead}</p><div class="cards">${shown.map((one) => merchantCard(view, person, one))}</div>`
    : html`<p class="empty">${person.email ? t.none(person.email) : t.noAddress}</p>`
}
${pager(view, next)}`,
  };
}

function merchantCard(view: PlainView, person: Person, [merchantId, role]: [string, Role]): Html {
  const t = textsFor(view, homeTexts);
  const { environments } = textsFor(view, layoutTexts);
  const path = `/${merchantId}`;
  return html`<section class="card"><h2>${person.merchantNames.has(merchantId) ? nothing : html`${t.merchant} `}${merchantText(person, merchantId)}</h2>
<p class="soft"><code>${merchantId}</code></p>
<p>${t.role} ${textsFor(view, roleTexts)[roleName(role)]}</p>
<p class="row"><a class="button" href="/live${path}">${environments.live}</a> <a class="button plain" href="/sandbox${path}">${environments.test}</a></p>
${leaveForm(view, person, merchantId)}</section>`;
}

function invitationList(view: PlainView, person: Person, invitations: readonly Invitation[]): Html {
  const t = textsFor(view, homeTexts);
  const roles = textsFor(view, roleTexts);
  const card = ({ id, merchantId, merchantName, role, expiresAt }: Invitation) => html`<section class="card">
<p>${t.invited} <strong>${roles[roleName(role)]}</strong> <span class="soft">(${roles.hints[roleName(role)]})</span></p>
<p>${t.merchant} ${merchantName ? html`<strong>${merchantName}</strong> ` : nothing}<code>${merchantId}</code></p>
<p class="hint">${t.until} ${moment(view, expiresAt)}</p>
${personForm(person, `/invitations/${merchantId}/${id}/accept`, html`<button>${t.accept}</button>`)}</section>`;
  return html`<h2>${t.invitations}</h2><div class="cards">${invitations.map(card)}</div>`;
}

/** A form to leave a merchant, for any role. */
export function leaveForm(view: PlainView, person: Person, merchantId: string): Html {
  const t = textsFor(view, homeTexts);
  const button = html`<button class="danger">${t.leave}</button>`;
  return html`<details class="confirm"><summary>${t.leave}</summary><p>${t.leaveText}</p>
${personForm(person, `/merchants/${merchantId}/leave`, button)}</details>`;
}
