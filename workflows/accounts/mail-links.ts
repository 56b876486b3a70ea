import type { MailConfig } from './smtp-mailer.ts';

/** The base URLs of the links in mails. */
export interface MailLinks {
  /** Without a trailing slash. */
  readonly dashboardUrl: string;
}

/** The dashboard's public URL, or else the address it listens on. */
export function mailLinks({ PUBLIC_URL_DASHBOARD, HOST, DASHBOARD_PORT }: MailConfig): MailLinks {
  return { dashboardUrl: PUBLIC_URL_DASHBOARD ?? `http://${HOST}:${DASHBOARD_PORT}` };
}
