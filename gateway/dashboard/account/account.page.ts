import { Type } from 'typebox';
import type {
  ListSessionsResponse,
  MailTopic,
  Session,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { callFor } from '../../clients.ts';
import { callAsPerson } from '../dashboard-caller.ts';
import { ownFormHooks, redirectFormUrl } from '../session/own-form.ts';
import { clearSessionCookie } from '../session/session-cookie.ts';
import {
  badge,
  dataTable,
  details,
  moment,
  NONE,
  pageParameter,
  pager,
  personForm,
} from '../shell/components.ts';
import type { RouteDependencies } from '../shell/dependencies.ts';
import { type Html, html } from '../shell/html.ts';
import { LANGUAGE_NAMES, LANGUAGES } from '../shell/language.ts';
import { sendPage } from '../shell/layout.ts';
import { type Page, type Person, type PlainView, textsFor } from '../shell/view.ts';
import { SIGNED_OUT_PATH } from '../sign-in/sign-out.routes.ts';
import { accountTexts } from './account.texts.ts';
import { browserName } from './browser-name.ts';
import { languageRoute } from './language.routes.ts';
import { mailForm, mailRoute } from './mail-choices.ts';

const ACCOUNT_PATH = '/account';
const PAGE_SIZE = 20;

/** A person's account, independent of any merchant: profile, sessions, language. */
export function accountPages(dependencies: RouteDependencies): void {
  const { app, guard, accounts, config } = dependencies;
  languageRoute(dependencies);
  const providerName = new URL(config.OIDC_ISSUER ?? '').host;
  const ownForm = ownFormHooks(guard);
  const { onRequest } = ownForm;

  const querystring = Type.Object({ page: pageParameter });
  app.get(ACCOUNT_PATH, { onRequest, schema: { querystring } }, async (request, reply) => {
    const person = request.person!;
    const { accountId } = person;
    const page = { pageSize: PAGE_SIZE, pageToken: request.query.page ?? '' };
    const [sessions, { unwanted }] = await Promise.all([
      accounts.listSessions({ accountId, ...page }, callFor(request)),
      accounts.getMailPreferences({ accountId }, callFor(request)),
    ]);
    const view = guard.plainViewOf(request);
    return sendPage(reply, view, accountPage(view, person, providerName, { sessions, unwanted }));
  });

  mailRoute(dependencies);
  const params = Type.Object({ sessionId: Type.String({ format: 'uuid' }) });
  const endPath = `${ACCOUNT_PATH}/sessions/:sessionId/end`;
  redirectFormUrl(app, endPath, ACCOUNT_PATH);
  app.post(endPath, { ...ownForm, schema: { params } }, async (request, reply) => {
    const { accountId, sessionId: own } = request.person!;
    const { sessionId } = request.params;
    await accounts.endSession({ accountId, sessionId }, callAsPerson(request));
    if (sessionId === own) clearSessionCookie(reply);
    return reply.redirect(sessionId === own ? SIGNED_OUT_PATH : `${ACCOUNT_PATH}?notice=ended`, 303);
  });

  app.post(`${ACCOUNT_PATH}/sign-out-everywhere`, ownForm, async (request, reply) => {
    await accounts.endAllSessions({ accountId: request.person!.accountId }, callAsPerson(request));
    clearSessionCookie(reply);
    return reply.redirect(`${SIGNED_OUT_PATH}?everywhere`, 303);
  });
}

interface AccountDetails {
  readonly sessions: ListSessionsResponse;
  readonly unwanted: readonly MailTopic[];
}

function accountPage(
  view: PlainView,
  person: Person,
  providerName: string,
  { sessions: { sessions, nextPageToken }, unwanted }: AccountDetails,
): Page {
  const t = textsFor(view, accountTexts);
  const languages = LANGUAGES.map((language) =>
    language === view.language
      ? html`<strong>${LANGUAGE_NAMES[language]}</strong> `
      : html`<a href="/language?to=${language}&amp;return=${ACCOUNT_PATH}" lang="${language}">${LANGUAGE_NAMES[language]}</a> `,
  );
  return {
    title: t.title,
    notices: { ended: t.ended, mail: t.mail.saved },
    body: html`${details([
      [t.name, person.name || NONE],
      [t.email, person.email || NONE],
      [t.provider, providerName],
      [t.language, html`${languages}`],
    ])}
${mailForm(view, person, unwanted)}
<h2>${t.sessions}</h2>
${sessionTable(view, person, sessions)}
${pager(view, nextPageToken)}
<details class="confirm"><summary>${t.everywhere}</summary><p>${t.everywhereText}</p>
${personForm(person, `${ACCOUNT_PATH}/sign-out-everywhere`, html`<button class="danger">${t.signOutEverywhere}</button>`)}
</details>`,
  };
}

function sessionTable(view: PlainView, person: Person, sessions: readonly Session[]): Html {
  const t = textsFor(view, accountTexts);
  return dataTable<Session>(
    t.sessionsHint,
    [
      {
        label: t.browser,
        cell: ({ id, userAgent }) =>
          html`<span>${browserName(userAgent) || t.unknown} ${
            id === person.sessionId ? badge('good', t.thisOne) : ''
          }</span>`,
      },
      { label: t.address, cell: ({ ipAddress }) => html`<code>${ipAddress}</code>` },
      { label: t.started, cell: ({ createdAt }) => moment(view, createdAt) },
      { label: t.lastSeen, cell: ({ lastSeenAt }) => moment(view, lastSeenAt) },
      { label: t.expires, cell: ({ expiresAt }) => moment(view, expiresAt) },
      {
        label: t.action,
        cell: ({ id }) =>
          personForm(
            person,
            `${ACCOUNT_PATH}/sessions/${id}/end`,
            html`<button class="small">${t.end}</button>`,
          ),
      },
    ],
    sessions,
    t.none,
  );
}
