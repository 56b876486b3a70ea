import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Invitation } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { WebhookSubscription } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { NotifyContactInput } from '../../services/contracts/accounts/notify-contact.contract.ts';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { dueDisputeMail, dueRefundsMail } from './deadline-mail.ts';
import { debtsMail } from './debt-mail.ts';
import { expiringKeyMail } from './key-mail.ts';
import { formatTime } from './mail-format.ts';
import { type Addressee, type MailLinks, merchantUrlOf } from './mail-links.ts';
import { texts } from './notice.texts.ts';
import type { Notice } from './notice.ts';
import { outcomeMail } from './outcome-mail.ts';
import type { Mail } from './smtp-mailer.ts';

const CHOICES = { 'pt-BR': 'Escolha quais e-mails você recebe', en: 'Choose which emails you get' };

/** A notice as a mail in the merchant's language. It contains no event data and no secrets. */
export function composeMail(
  { subject, language, happenedAt, merchant }: Notice,
  input: NotifyContactInput,
  links: MailLinks,
): Pick<Mail, 'subject' | 'text' | 'language'> {
  const addressee = { language, merchant, merchantUrl: merchantUrlOf(input, links) };
  const withChoices = (mail: Pick<Mail, 'subject' | 'text'>) => ({
    language,
    subject: mail.subject,
    text: `${mail.text}\n${CHOICES[language]}: ${links.dashboardUrl}/account\n`,
  });
  switch (subject.kind) {
    case 'WEBHOOK_FAILING':
    case 'WEBHOOK_ERROR':
    case 'WEBHOOK_GONE':
      return { language, ...webhookMail(subject, happenedAt, input.environment, addressee) };
    case 'INVITATION':
      return { language, ...invitationMail(subject.invitation, addressee, links.dashboardUrl) };
    case 'REFUND_DEADLINES':
      return withChoices(dueRefundsMail(subject.refundCases, addressee));
    case 'DISPUTE_DUE':
      return withChoices(dueDisputeMail(subject.dispute, addressee));
    case 'DEBTS':
      return withChoices(debtsMail(subject.owedMinor, addressee));
    case 'API_KEY_EXPIRING':
      return withChoices(expiringKeyMail(subject, addressee));
    case 'REFUND_UNFUNDED':
    case 'REFUND_FAILED':
    case 'REFUND_REVIEWED':
    case 'REFUNDS_BLOCKED':
    case 'DISPUTE_ENDED':
    case 'ADVANCE_REFUSED':
    case 'ADVANCE_UNPAID':
    case 'FUNDS_HELD':
      return withChoices(outcomeMail(subject, addressee));
    default:
      return subject satisfies never;
  }
}

type WebhookSubject = {
  kind: 'WEBHOOK_FAILING' | 'WEBHOOK_ERROR' | 'WEBHOOK_GONE';
  subscription: WebhookSubscription;
};

function webhookMail(
  { kind, subscription }: WebhookSubject,
  happenedAt: Date,
  environment: EnvironmentName,
  { language, merchant, merchantUrl }: Addressee,
) {
  const t = texts[language];
  // The normalized form of a URL has neither line breaks nor invisible characters.
  const { href, host } = new URL(subscription.url);
  const facts = {
    merchant,
    url: href,
    environment,
    since: formatTime(language, happenedAt),
    reason: t.reason(kind === 'WEBHOOK_FAILING' ? subscription.health : subscription.error),
    link: `${merchantUrl}/webhooks/${subscription.id}`,
  };
  switch (kind) {
    case 'WEBHOOK_FAILING':
      return { subject: t.errorSubject(host, environment), text: t.failing(facts) };
    case 'WEBHOOK_ERROR':
      return { subject: t.errorSubject(host, environment), text: t.error(facts) };
    case 'WEBHOOK_GONE':
      return { subject: t.goneSubject(host, environment), text: t.gone(facts) };
    default:
      return kind satisfies never;
  }
}

function invitationMail(
  { role, email, expiresAt }: Invitation,
  { language, merchant }: Addressee,
  dashboardUrl: string,
) {
  const t = texts[language];
  const facts = {
    merchant,
    role: t.roles[role],
    email,
    expiresAt: formatTime(language, timestampDate(expiresAt!)),
    link: `${dashboardUrl}/`,
  };
  return { subject: t.invitationSubject, text: t.invitation(facts) };
}
