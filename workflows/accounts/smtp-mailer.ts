import { createTransport } from 'nodemailer';
import type { Config } from '../../services/platform/process/config.ts';

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
  /** What repetitions of a mail have in common: a mail server may know by it that it has the mail already. */
  readonly name: string;
}

/** Sends a mail. Resolves once the mail server has taken it. */
export type SendMail = (mail: Mail) => Promise<void>;

/**
 * Why a mail was not taken. Its words are ours: those of mail servers often repeat the address, and what is thrown here
 * goes into histories.
 */
export class MailRefusal extends Error {
  /** The mail server will not take this mail for this address, whenever it is asked. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean) {
    super(message);
    this.name = 'MailRefusal';
    this.isFinal = isFinal;
  }
}

const TIMEOUTS = {
  dnsTimeout: 10_000,
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 20_000,
};
/** Where a refusal is about this address or mail; earlier ones are about us, and can be put right. */
const OF_THIS_MAIL: readonly (string | undefined)[] = ['RCPT TO', 'DATA'];

/** Undefined where no mail server is configured. */
export function createMailer({ SMTP_URL: url, MAIL_FROM: from }: MailConfig): SendMail | undefined {
  if (url === undefined) return undefined;
  const transport = createTransport({ url, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true });
  const domain = /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost';
  return async ({ to, subject, text, language, name }) => {
    const messageId = `<${name}@${domain}>`;
    // Nobody's holiday answers it.
    const headers = { 'Auto-Submitted': 'auto-generated', 'Content-Language': language };
    const mail = { from, to: { name: '', address: to }, subject, text, messageId, headers };
    await transport.sendMail(mail).catch((error: SmtpError) => {
      throw refusalOf(error);
    });
  };
}

/** What nodemailer's errors have besides their message. */
interface SmtpError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

function refusalOf({ code, command, responseCode, message }: SmtpError): MailRefusal {
  if (message.startsWith('Invalid recipient')) return new MailRefusal('this is no address', true);
  if (responseCode === undefined)
    return new MailRefusal(`the mail server is away: ${code ?? 'unknown'}`, false);
  const isFinal = responseCode >= 500 && OF_THIS_MAIL.includes(command);
  return new MailRefusal(`the mail server answered ${responseCode} to ${command ?? 'nothing'}`, isFinal);
}
