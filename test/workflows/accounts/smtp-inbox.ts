import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** A mail as the server has taken it. */
export interface TakenMail {
  /** The envelope's. */
  readonly to: readonly string[];
  readonly from: string;
  /** As it came over the wire. */
  readonly source: string;
  readonly mail: Email;
}

/** What the server answers to a sender, a recipient or the mail itself, by address; all others it takes. */
export interface Refusal {
  readonly at: 'MAIL' | 'RCPT' | 'DATA';
  readonly code: number;
}

/** A real mail server on loopback that keeps what it takes. */
export interface SmtpInbox extends AsyncDisposable {
  readonly url: string;
  readonly taken: TakenMail[];
  readonly refusals: Map<string, Refusal>;
  /** Addresses of whose mail, once taken, the sender is not told. */
  readonly silentFor: Set<string>;
  /** How often somebody was named as a recipient. */
  asked(address: string): number;
  mailTo(address: string): TakenMail[];
}

export async function startSmtpInbox(): Promise<SmtpInbox> {
  const taken: TakenMail[] = [];
  const refusals = new Map<string, Refusal>();
  const silentFor = new Set<string>();
  const asked: string[] = [];
  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['AUTH', 'STARTTLS'], logger: false },
    onMailFrom({ address }, _session, answer) {
      const refusal = refusals.get(address);
      answer(refusal?.at === 'MAIL' ? refused(refusal, address) : undefined);
    },
    onRcptTo({ address }, _session, answer) {
      asked.push(address);
      const refusal = refusals.get(address);
      answer(refusal?.at === 'RCPT' ? refused(refusal, address) : undefined);
    },
    async onData(stream, { envelope }, answer) {
      const source = Buffer.concat(await stream.toArray()).toString('utf8');
      const to = envelope.rcptTo.map(({ address }) => address);
      const refusal = to.map((address) => refusals.get(address)).find((one) => one?.at === 'DATA');
      if (refusal) return answer(refused(refusal, to[0]!));
      const from = envelope.mailFrom ? envelope.mailFrom.address : '';
      taken.push({ to, from, source, mail: await PostalMime.parse(source) });
      if (!to.some((address) => silentFor.has(address))) answer();
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    ...{ url: `smtp://127.0.0.1:${port}`, taken, refusals, silentFor },
    asked: (address) => asked.filter((one) => one === address).length,
    mailTo: (address) => taken.filter(({ to }) => to.includes(address)),
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Repeats the address, as mail servers do. */
const refused = ({ code }: Refusal, address: string) =>
  Object.assign(new Error(`<${address}>: words of the mail server`), { responseCode: code });
