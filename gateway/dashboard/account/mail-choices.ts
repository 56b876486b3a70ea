import { Type } from 'typebox';
import { MailTopic } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { callAsPerson } from '../dashboard-caller.ts';
import { ownFormHooks, redirectFormUrl } from '../session/own-form.ts';
import { personForm } from '../shell/components.ts';
import type { RouteDependencies } from '../shell/dependencies.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { type Person, type PlainView, textsFor } from '../shell/view.ts';
import { accountTexts } from './account.texts.ts';

const MAIL_PATH = '/account/mail';
const TOPICS = [
  'REFUND_DEADLINES',
  'DISPUTE_DEADLINES',
  'WEBHOOK_PROBLEMS',
  'DEBTS',
  'ADVANCES',
  'API_KEYS',
] as const;

/** The form with which a person chooses their emails, for all merchants. */
export function mailForm(view: PlainView, person: Person, unwanted: readonly MailTopic[]): Html {
  const { mail: t } = textsFor(view, accountTexts);
  const box = (topic: (typeof TOPICS)[number]) => {
    const checked = unwanted.includes(MailTopic[topic]) ? nothing : html` checked`;
    return html`<label class="option"><input type="checkbox" name="wanted" value="${topic}"${checked}> ${t.topics[topic]}</label>`;
  };
  const fields = html`<fieldset><legend>${t.legend}</legend>${TOPICS.map(box)}</fieldset><button>${t.save}</button>`;
  return html`<h2>${t.title}</h2><p class="hint">${t.hint}</p>${personForm(person, MAIL_PATH, fields)}`;
}

/** Saves the choice. */
export function mailRoute({ app, guard, accounts }: RouteDependencies): void {
  const topic = Type.Enum([...TOPICS]);
  const body = Type.Object({
    wanted: Type.Optional(Type.Union([topic, Type.Array(topic, { maxItems: TOPICS.length })])),
  });
  redirectFormUrl(app, MAIL_PATH, '/account');
  app.post(MAIL_PATH, { ...ownFormHooks(guard), schema: { body } }, async (request, reply) => {
    const { accountId } = request.person!;
    const wanted = [request.body.wanted ?? []].flat();
    const unwanted = TOPICS.filter((name) => !wanted.includes(name)).map((name) => MailTopic[name]);
    await accounts.setMailPreferences({ accountId, unwanted }, callAsPerson(request));
    return reply.redirect('/account?notice=mail', 303);
  });
}
