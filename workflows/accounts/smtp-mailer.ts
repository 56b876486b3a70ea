import { Socket } from 'node:net';
import type { Config } from '../../services/platform/process/config.ts';
import { countMail } from './mail-metrics.ts';

export type MailConfig = Pick<
  Config,
  'SMTP_URL' | 'MAIL_FROM' | 'PUBLIC_URL_DASHBOARD' | 'HOST' | 'DASHBOARD_PORT'
>;

/** A mail to one address, as plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly language: string;
  /** The local part of the Message-ID. A mail that is sent again keeps it, so that mail servers can drop duplicates. */
  readonly id: string;
}

/** Sends a mail. Resolves once the mail server has accepted it. */
export type SendMail = (mail: Mail) => Promise<void>;

/**
 * Why a mail was not accepted. The message is our own: mail servers often repeat the address in theirs, and error
 * messages are kept in workflow histories.
 */
export class MailError extends Error {
  /** The mail server will never accept this mail for this address. */
  readonly isPermanent: boolean;

  constructor(message: string, isPermanent: boolean) {
    super(message);
    this.name = 'MailError';
    this.isPermanent = isPermanent;
  }
}

const TIMEOUTS = {
  dnsTimeout: 10_000,
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 20_000,
};
/** For the whole exchange, because a server that sends a byte now and then exceeds none of the others. */
const EXCHANGE_MS = 45_000;
/** Commands whose rejection concerns the recipient or the mail. Earlier ones concern the sender, which can be fixed. */
const COMMANDS_OF_MAIL: readonly (string | undefined)[] = ['RCPT TO', 'DATA'];

/** Undefined when no mail server is configured. @param exchangeMs how long sending a mail may take. */
export function createMailer(
  { SMTP_URL: url, MAIL_FROM: from }: MailConfig,
  exchangeMs = EXCHANGE_MS,
): SendMail | undefined {
  if (url === undefined) return undefined;
  // Never sends the password in plain text, unless the URL has ?requireTLS=false, which takes precedence.
  const requireTLS = new URL(url).password !== '';
  const options = { url, requireTLS, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true };
  // Loaded only where mail is sent: it takes 5 MB.
  const nodemailer = import('nodemailer');
  const domain = /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost';
  return async ({ to, subject, text, language, id }) => {
    const messageId = `<${id}@${domain}>`;
    // Auto-Submitted keeps out-of-office replies away.
    const headers = { 'Auto-Submitted': 'auto-generated', 'Content-Language': language };
    const mail = { from, to: { name: '', address: to }, subject, text, messageId, headers };
    const { createTransport } = await nodemailer;
    const socket = new Socket();
    const deadline = setTimeout(() => socket.destroy(new Error('the exchange took too long')), exchangeMs);
    await createTransport({ ...options, socket })
      .sendMail(mail)
      .catch((cause: SmtpError) => {
        const error = mailErrorOf(cause);
        countMail(error.isPermanent ? 'rejected' : 'failed');
        throw error;
      })
      .finally(() => clearTimeout(deadline));
    countMail('sent');
  };
}

/** The fields that nodemailer adds to its errors. */
interface SmtpError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

function mailErrorOf({ code, command, responseCode, message }: SmtpError): MailError {
  if (message.startsWith('Invalid recipient')) return new MailError('invalid email address', true);
  if (responseCode === undefined) {
    return new MailError(`the mail server is unavailable: ${code ?? 'unknown error'}`, false);
  }
  const isPermanent = responseCode >= 500 && COMMANDS_OF_MAIL.includes(command);
  const failedCommand = command ?? 'an unknown command';
  return new MailError(`the mail server answered ${failedCommand} with ${responseCode}`, isPermanent);
}
