import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../services/platform/process/config.ts';
import { metrics } from '../../../services/platform/process/telemetry.ts';
import { createMailer, type Mail, MailError } from '../../../workflows/accounts/smtp-mailer.ts';
import { testConfig } from '../../support/harness.ts';
import { portOf } from '../../support/port-of.ts';
import { startSmtpInbox } from './smtp-inbox.ts';

const inbox = await startSmtpInbox();
afterAll(() => inbox[Symbol.asyncDispose]());

const FROM = 'sender@payments.example';
const mailerTo = (url: string, from = FROM) => createMailer(testConfig({ SMTP_URL: url, MAIL_FROM: from }))!;
const newAddress = () => `${randomUUID()}@merchant.example`;
const mail = (changed: Partial<Mail> = {}): Mail => ({
  to: newAddress(),
  subject: 'subject',
  text: 'text',
  language: 'en',
  id: randomUUID(),
  ...changed,
});

/** The attempts to send a mail, by result. */
async function mailCounts(): Promise<Record<string, number>> {
  const { values } = await metrics.getSingleMetric('payments_mails_total')!.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.result, value]));
}

/** The error of a mail that was not accepted. */
async function rejectionOf(sending: Promise<void>): Promise<MailError> {
  const error = await sending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(MailError);
  return error as MailError;
}

describe('a rejection', () => {
  it.each([
    { at: 'RCPT', code: 550, isPermanent: true },
    { at: 'RCPT', code: 451, isPermanent: false },
    { at: 'DATA', code: 554, isPermanent: true },
    { at: 'DATA', code: 452, isPermanent: false },
  ] as const)('with $code at $at is permanent: $isPermanent', async ({ at, code, isPermanent }) => {
    const to = newAddress();
    inbox.rejections.set(to, { at, code });
    const error = await rejectionOf(mailerTo(inbox.url)(mail({ to })));
    expect(error.isPermanent).toBe(isPermanent);
    expect(error.message).toContain(String(code));
    expect(error.message).not.toMatch(/merchant\.example|text of the mail server/);
  });

  it('of the sender is temporary, because the sender can be fixed', async () => {
    const from = newAddress();
    inbox.rejections.set(from, { at: 'MAIL', code: 550 });
    expect((await rejectionOf(mailerTo(inbox.url, from)(mail()))).isPermanent).toBe(false);
  });

  it('of the password is temporary, and does not reveal it', async () => {
    await using strict = await startSmtpInbox({ user: 'me', password: 'hushhush' });
    const error = await rejectionOf(mailerTo(strict.url)(mail()));
    expect(error.isPermanent).toBe(false);
    expect(error.message).not.toContain('hushhush');
    expect(strict.signIns()).toBe(1);
  });

  it('sends no password in plain text, unless the URL allows it', async () => {
    await using strict = await startSmtpInbox({ user: 'me', password: 'hushhush' });
    const secure = strict.url.replace('?requireTLS=false', '');
    expect((await rejectionOf(mailerTo(secure)(mail()))).isPermanent).toBe(false);
    expect(strict.signIns()).toBe(0);
  });

  it('is temporary when no server is listening', async () => {
    expect((await rejectionOf(mailerTo('smtp://127.0.0.1:1')(mail()))).isPermanent).toBe(false);
  });

  it('is temporary when the server goes on answering slowly until the deadline', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).resume();
      socket.write('220 ready\r\n');
      const drip = setInterval(() => socket.write('250-more\r\n'), 20);
      socket.once('close', () => clearInterval(drip));
    }).listen(0, '127.0.0.1');
    const port = await portOf(server);
    const mailer = createMailer(testConfig({ SMTP_URL: `smtp://127.0.0.1:${port}` }), 500)!;
    expect((await rejectionOf(mailer(mail()))).isPermanent).toBe(false);
    // The connection is closed, too.
    await new Promise((resolve) => server.close(resolve));
  });

  it('is counted, as is a mail that was sent', async () => {
    const counted = async (send: () => Promise<unknown>) => {
      const before = await mailCounts();
      await send();
      const after = await mailCounts();
      return Object.fromEntries(
        Object.entries(after).map(([result, count]) => [result, count - before[result]!]),
      );
    };
    const none = { sent: 0, rejected: 0, failed: 0 };
    expect(await counted(() => mailerTo(inbox.url)(mail()))).toEqual({ ...none, sent: 1 });
    expect(await counted(() => rejectionOf(mailerTo('smtp://127.0.0.1:1')(mail())))).toEqual({
      ...none,
      failed: 1,
    });
    const to = newAddress();
    inbox.rejections.set(to, { at: 'RCPT', code: 550 });
    const refused = await counted(() => rejectionOf(mailerTo(inbox.url)(mail({ to }))));
    expect(refused).toEqual({ ...none, rejected: 1 });
  });

  it('is permanent for an invalid address', async () => {
    expect((await rejectionOf(mailerTo(inbox.url)(mail({ to: 'a b@c\n@d' })))).isPermanent).toBe(true);
  });
});

describe('a mail', () => {
  it.each(['subject', 'to', 'text', 'id'] as const)(
    'cannot inject headers or recipients through its %s',
    async (part) => {
      const given = mail({ subject: randomUUID(), text: randomUUID() });
      const hostile = `${given[part]}\r\nBcc: victim@elsewhere.example\r\n\r\nwords`;
      await mailerTo(inbox.url)(mail({ ...given, [part]: hostile })).catch(() => undefined);
      const received = inbox.received.filter(({ source }) => source.includes(given[part]));
      // An address with a line break is invalid.
      expect(received).toHaveLength(part === 'to' ? 0 : 1);
      for (const { to, mail: seen } of received) {
        expect(to).toHaveLength(1);
        expect(to[0]).not.toBe('victim@elsewhere.example');
        expect(seen.headers.map(({ key }: { key: string }) => key)).not.toContain('bcc');
      }
      expect(inbox.attempts('victim@elsewhere.example')).toBe(0);
    },
  );

  it('goes to one recipient when several addresses are given', async () => {
    const [first, second] = [newAddress(), newAddress()];
    await mailerTo(inbox.url)(mail({ to: `${first}, ${second}` })).catch(() => undefined);
    expect(inbox.attempts(second)).toBe(0);
  });
});

describe('the setting SMTP_URL', () => {
  it('rejects anything but an SMTP URL, without repeating it', () => {
    for (const url of ['http://me:hushhush@mail.example', 'me:hushhush@mail.example', 'smtp://']) {
      const read = () => testConfig({ SMTP_URL: url });
      expect(read).toThrow(ConfigError);
      expect(read).toThrow(/SMTP_URL must be an SMTP URL/);
      expect(read).not.toThrow(/hushhush/);
    }
  });

  it('can require TLS, and a misspelled or empty parameter is an error', async () => {
    const required = `${inbox.url}?requireTLS=true`;
    const before = inbox.received.length;
    expect((await rejectionOf(mailerTo(required)(mail()))).isPermanent).toBe(false);
    expect(inbox.received).toHaveLength(before);
    for (const parameter of ['requiretls=true', 'requireTLS=', 'requireTLS=%20', 'secure=true']) {
      const read = () => testConfig({ SMTP_URL: `${inbox.url}?${parameter}` });
      expect(read).toThrow(
        /SMTP_URL (has a parameter for TLS other than|must not have the parameter secure)/,
      );
    }
    expect(testConfig({ SMTP_URL: `${inbox.url}?proxy=http://proxy:3128` }).SMTP_URL).toContain('proxy:3128');
  });

  it('is optional: without it there is no mailer', () => {
    expect(createMailer(testConfig())).toBeUndefined();
  });
});
