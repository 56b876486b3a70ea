import type { NotifyContactInput } from '../../services/contracts/accounts/notify-contact.contract.ts';
import { listeningUrl } from '../../services/platform/process/listening-url.ts';
import type { Language } from './mail-format.ts';
import type { MailConfig } from './smtp-mailer.ts';

export interface MailLinks {
  /** Without a trailing slash. */
  readonly dashboardUrl: string;
}

/** The dashboard's public URL, or else the address it listens on. */
export function mailLinks({ PUBLIC_URL_DASHBOARD, HOST, DASHBOARD_PORT }: MailConfig): MailLinks {
  return { dashboardUrl: PUBLIC_URL_DASHBOARD ?? listeningUrl(HOST, DASHBOARD_PORT) };
}

/** For whom a mail is written. */
export interface Addressee {
  readonly language: Language;
  /** The merchant's name, or else its id. */
  readonly merchant: string;
  /** The first page of the merchant's environment in the dashboard. */
  readonly merchantUrl: string;
}

/** The first page of a merchant's environment in the dashboard. */
export const merchantUrlOf = ({ merchantId, environment }: NotifyContactInput, { dashboardUrl }: MailLinks) =>
  `${dashboardUrl}/${environment === 'live' ? 'live' : 'sandbox'}/${merchantId}`;
