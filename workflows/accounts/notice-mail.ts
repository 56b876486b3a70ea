import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Invitation } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { WebhookSubscription } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { NotifyContactInput } from '../../services/contracts/accounts/notify-contact.contract.ts';
import { ACCOUNT_TIME_ZONE } from '../../services/platform/civil-date.ts';
import { texts } from './notice.texts.ts';
import type { Notice } from './notice.ts';
import type { Mail, MailConfig } from './smtp-mailer.ts';

/** The base URLs of the links in mails. */
export interface MailLinks {
  /** Without a trailing slash. */
  readonly dashboardUrl: string;
}

/** The dashboard's public URL, or else the address it listens on. */
export function mailLinks({ PUBLIC_URL_DASHBOARD, HOST, DASHBOARD_PORT }: MailConfig): MailLinks {
  return { dashboardUrl: PUBLIC_URL_DASHBOARD ?? `http://${HOST}:${DASHBOARD_PORT}` };
}

const TIME_ZONE_NAME = { 'pt-BR': 'horário de Brasília', en: 'Brasília time' };

/** A notice as a mail in the merchant's language. It contains no event data and no secrets. */
export function composeMail(
  { subject, language, happenedAt }: Notice,
  input: NotifyContactInput,
  links: MailLinks,
): Pick<Mail, 'subject' | 'text' | 'language'> {
  switch (subject.kind) {
    case 'WEBHOOK_ERROR':
    case 'WEBHOOK_GONE':
      return { language, ...webhookMail(subject, { language, happenedAt }, input, links) };
    case 'INVITATION':
      return { language, ...invitationMail(subject.invitation, language, links) };
    default:
      return subject satisfies never;
  }
}

type WebhookSubject = { kind: 'WEBHOOK_ERROR' | 'WEBHOOK_GONE'; subscription: WebhookSubscription };

function webhookMail(
  { kind, subscription }: WebhookSubject,
  { language, happenedAt }: Pick<Notice, 'language' | 'happenedAt'>,
  { merchantId, environment }: NotifyContactInput,
  { dashboardUrl }: MailLinks,
) {
  const t = texts[language];
  // The normalized form of a URL has neither line breaks nor invisible characters.
  const { href, host } = new URL(subscription.url);
  const environmentPath = environment === 'live' ? 'live' : 'sandbox';
  const facts = {
    url: href,
    environment,
    since: formatTime(language, happenedAt),
    reason: t.reason(subscription.error),
    link: `${dashboardUrl}/${environmentPath}/${merchantId}/webhooks/${subscription.id}`,
  };
  return kind === 'WEBHOOK_ERROR'
    ? { subject: t.errorSubject(host, environment), text: t.error(facts) }
    : { subject: t.goneSubject(host, environment), text: t.gone(facts) };
}

function invitationMail(
  { merchantId, role, email, expiresAt }: Invitation,
  language: Notice['language'],
  { dashboardUrl }: MailLinks,
) {
  const t = texts[language];
  const facts = {
    merchantId,
    role: t.roles[role],
    email,
    expiresAt: formatTime(language, timestampDate(expiresAt!)),
    link: `${dashboardUrl}/`,
  };
  return { subject: t.invitationSubject, text: t.invitation(facts) };
}

function formatTime(language: Notice['language'], at: Date): string {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: ACCOUNT_TIME_ZONE,
  });
  return `${format.format(at)} (${TIME_ZONE_NAME[language]})`;
}
