import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Invitation } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { WebhookSubscription } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { NotifyContactInput } from '../../services/contracts/accounts/notify-contact.contract.ts';
import { ACCOUNT_TIME_ZONE } from '../../services/platform/civil-date.ts';
import { failureCause } from './failure-cause.ts';
import { texts } from './notice.texts.ts';
import type { Notice } from './notice.ts';
import type { Mail, MailConfig } from './smtp-mailer.ts';

/** Where links in mail lead. */
export interface MailPlaces {
  /** Without a slash at its end. */
  readonly dashboardUrl: string;
}

/** The dashboard's address as people have it, else the one it listens on. */
export function mailPlaces({ PUBLIC_URL_DASHBOARD, HOST, DASHBOARD_PORT }: MailConfig): MailPlaces {
  return { dashboardUrl: PUBLIC_URL_DASHBOARD ?? `http://${HOST}:${DASHBOARD_PORT}` };
}

const TIME_ZONE_NAME = { 'pt-BR': 'horário de Brasília', en: 'Brasília time' };

/** A notice as a mail in its language. It holds no event's data, and no secret. */
export function composeMail(
  { subject, language, happenedAt }: Notice,
  input: NotifyContactInput,
  places: MailPlaces,
): Pick<Mail, 'subject' | 'text' | 'language'> {
  switch (subject.kind) {
    case 'WEBHOOK_ERROR':
    case 'WEBHOOK_GONE':
      return { language, ...webhookMail(subject, { language, happenedAt }, input, places) };
    case 'INVITATION':
      return { language, ...invitationMail(subject.invitation, language, places) };
    default:
      return subject satisfies never;
  }
}

type AboutWebhook = { kind: 'WEBHOOK_ERROR' | 'WEBHOOK_GONE'; subscription: WebhookSubscription };

function webhookMail(
  { kind, subscription }: AboutWebhook,
  { language, happenedAt }: Pick<Notice, 'language' | 'happenedAt'>,
  { merchantId, environment }: NotifyContactInput,
  { dashboardUrl }: MailPlaces,
) {
  const t = texts[language];
  const isLive = environment === 'live';
  // Written anew: a URL so written has neither line breaks nor what is invisible.
  const { href, host } = new URL(subscription.url);
  const side = isLive ? 'live' : 'sandbox';
  const facts = {
    ...{ url: href, isLive, since: timeIn(language, happenedAt) },
    why: t.why(failureCause(subscription.errorReason ?? '')),
    link: `${dashboardUrl}/${side}/${merchantId}/webhooks/${subscription.id}`,
  };
  return kind === 'WEBHOOK_ERROR'
    ? { subject: t.errorSubject(host, isLive), text: t.error(facts) }
    : { subject: t.goneSubject(host, isLive), text: t.gone(facts) };
}

function invitationMail(
  { merchantId, role, email, expiresAt }: Invitation,
  language: Notice['language'],
  { dashboardUrl }: MailPlaces,
) {
  const t = texts[language];
  const until = timeIn(language, timestampDate(expiresAt!));
  const facts = { merchantId, role: t.roles[role], email, until, link: `${dashboardUrl}/` };
  return { subject: t.invitationSubject, text: t.invitation(facts) };
}

function timeIn(language: Notice['language'], at: Date): string {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: ACCOUNT_TIME_ZONE,
  });
  return `${format.format(at)} (${TIME_ZONE_NAME[language]})`;
}
