import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { portOf } from '../../support/port-of.ts';

/** A mail that the server has accepted. */
export interface ReceivedMail {
  /** The envelope's recipients. */
  readonly to: readonly string[];
  readonly from: string;
  /** As received, headers included. */
  readonly source: string;
  readonly mail: Email;
}

/** At which command, and with which code, the server rejects an address. */
export interface Rejection {
  readonly at: 'MAIL' | 'RCPT' | 'DATA';
  readonly code: number;
}

/** With letters and digits alone. */
export interface SmtpAccount {
  readonly user: string;
  readonly password: string;
}

/** A real mail server on loopback that keeps the mails it accepts. */
export interface SmtpInbox extends AsyncDisposable {
  readonly url: string;
  readonly received: ReceivedMail[];
  readonly rejections: Map<string, Rejection>;
  /** Addresses whose mail is accepted without confirming it to the sender. */
  readonly silentFor: Set<string>;
  /** How often a sender tried to authenticate. */
  signIns(): number;
  /** How often the address was named as a recipient. */
  attempts(address: string): number;
  mailTo(address: string): ReceivedMail[];
}

/** @param account senders must authenticate with these credentials, and the first try is rejected. Default: no authentication. */
export async function startSmtpInbox(account?: SmtpAccount): Promise<SmtpInbox> {
  let signIns = 0;
  const received: ReceivedMail[] = [];
  const rejections = new Map<string, Rejection>();
  const silentFor = new Set<string>();
  const attempted: string[] = [];
  const server = new SMTPServer({
    authOptional: account === undefined,
    disabledCommands: account ? ['STARTTLS'] : ['AUTH', 'STARTTLS'],
    allowInsecureAuth: true,
    logger: false,
    onAuth({ username, password }, _session, answer) {
      signIns += 1;
      const isRight = signIns > 1 && username === account?.user && password === account?.password;
      answer(isRight ? null : new Error('wrong user or password'), { user: username });
    },
    onMailFrom({ address }, _session, answer) {
      const rejection = rejections.get(address);
      answer(rejection?.at === 'MAIL' ? rejected(rejection, address) : undefined);
    },
    onRcptTo({ address }, _session, answer) {
      attempted.push(address);
      const rejection = rejections.get(address);
      answer(rejection?.at === 'RCPT' ? rejected(rejection, address) : undefined);
    },
    async onData(stream, { envelope }, answer) {
      const source = Buffer.concat(await stream.toArray()).toString('utf8');
      const to = envelope.rcptTo.map(({ address }) => address);
      const rejection = to.map((address) => rejections.get(address)).find((one) => one?.at === 'DATA');
      if (rejection) return answer(rejected(rejection, to[0]!));
      const from = envelope.mailFrom ? envelope.mailFrom.address : '';
      received.push({ to, from, source, mail: await PostalMime.parse(source) });
      if (!to.some((address) => silentFor.has(address))) answer();
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  const port = await portOf(server.server);
  return {
    url: account
      ? `smtp://${account.user}:${account.password}@127.0.0.1:${port}?requireTLS=false`
      : `smtp://127.0.0.1:${port}`,
    signIns: () => signIns,
    received,
    rejections,
    silentFor,
    attempts: (address) => attempted.filter((one) => one === address).length,
    mailTo: (address) => received.filter(({ to }) => to.includes(address)),
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Repeats the address in the reply, as mail servers do. */
const rejected = ({ code }: Rejection, address: string) =>
  Object.assign(new Error(`<${address}>: text of the mail server`), { responseCode: code });
