import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError } from '../../../services/platform/process/config.ts';
import { createMailer, type Mail, MailRefusal } from '../../../workflows/accounts/smtp-mailer.ts';
import { testConfig } from '../../support/harness.ts';
import { type SmtpInbox, startSmtpInbox } from './smtp-inbox.ts';

let inbox: SmtpInbox;
beforeAll(async () => {
  inbox = await startSmtpInbox();
});
afterAll(() => inbox?.[Symbol.asyncDispose]());

const FROM = 'sender@payments.example';
const mailerTo = (url: string, from = FROM) => createMailer(testConfig({ SMTP_URL: url, MAIL_FROM: from }))!;
const newAddress = () => `${randomUUID()}@merchant.example`;
const mail = (changed: Partial<Mail> = {}): Mail => ({
  ...{ to: newAddress(), subject: 'subject', text: 'text', language: 'en', name: randomUUID() },
  ...changed,
});

/** Why it was not taken. */
async function refusalOf(sending: Promise<void>): Promise<MailRefusal> {
  const error = await sending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(MailRefusal);
  return error as MailRefusal;
}

describe('a refusal', () => {
  it.each([
    { at: 'RCPT', code: 550, isFinal: true },
    { at: 'RCPT', code: 451, isFinal: false },
    { at: 'DATA', code: 554, isFinal: true },
    { at: 'DATA', code: 452, isFinal: false },
  ] as const)('with $code at $at is final: $isFinal', async ({ at, code, isFinal }) => {
    const to = newAddress();
    inbox.refusals.set(to, { at, code });
    const refusal = await refusalOf(mailerTo(inbox.url)(mail({ to })));
    expect(refusal.isFinal).toBe(isFinal);
    expect(refusal.message).toContain(String(code));
    expect(refusal.message).not.toMatch(/merchant\.example|words of the mail server/);
  });

  it('of the sender is not final: it is about us, and can be put right', async () => {
    const from = newAddress();
    inbox.refusals.set(from, { at: 'MAIL', code: 550 });
    expect((await refusalOf(mailerTo(inbox.url, from)(mail()))).isFinal).toBe(false);
  });

  it('of our password is not final, and does not tell it', async () => {
    const server = new SMTPServer({
      ...{ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, logger: false },
      onAuth: (_auth, _session, answer) => answer(new Error('no')),
    });
    server.on('error', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server.server, 'listening');
    onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
    const { port } = server.server.address() as AddressInfo;
    const refusal = await refusalOf(mailerTo(`smtp://me:hushhush@127.0.0.1:${port}`)(mail()));
    expect(refusal.isFinal).toBe(false);
    expect(refusal.message).not.toContain('hushhush');
  });

  it('by nobody, where no server listens, is not final', async () => {
    expect((await refusalOf(mailerTo('smtp://127.0.0.1:1')(mail()))).isFinal).toBe(false);
  });

  it('is final for what is no address', async () => {
    expect((await refusalOf(mailerTo(inbox.url)(mail({ to: 'a b@c\n@d' })))).isFinal).toBe(true);
  });
});

describe('what is given', () => {
  it.each(['subject', 'to', 'text', 'name'] as const)(
    'adds no header and no recipient by its %s',
    async (part) => {
      const given = mail({ subject: randomUUID(), text: randomUUID() });
      const hostile = `${given[part]}\r\nBcc: victim@elsewhere.example\r\n\r\nwords`;
      await mailerTo(inbox.url)(mail({ ...given, [part]: hostile })).catch(() => undefined);
      const taken = inbox.taken.filter(({ source }) => source.includes(given[part]));
      // An address that holds a line break is none.
      expect(taken).toHaveLength(part === 'to' ? 0 : 1);
      for (const { to, mail: seen } of taken) {
        expect(to).toHaveLength(1);
        expect(to[0]).not.toBe('victim@elsewhere.example');
        expect(seen.headers.map(({ key }: { key: string }) => key)).not.toContain('bcc');
      }
      expect(inbox.asked('victim@elsewhere.example')).toBe(0);
    },
  );

  it('goes to one recipient, however many the address names', async () => {
    const [first, second] = [newAddress(), newAddress()];
    await mailerTo(inbox.url)(mail({ to: `${first}, ${second}` })).catch(() => undefined);
    expect(inbox.asked(second)).toBe(0);
  });
});

describe('the setting SMTP_URL', () => {
  it('is refused for what is no mail server, without repeating it', () => {
    for (const url of ['http://me:hushhush@mail.example', 'me:hushhush@mail.example', 'smtp://']) {
      const read = () => testConfig({ SMTP_URL: url });
      expect(read).toThrow(ConfigError);
      expect(read).toThrow(/SMTP_URL must be an SMTP URL/);
      expect(read).not.toThrow(/hushhush/);
    }
  });

  it('may be left out: then there is no mailer', () => {
    expect(createMailer(testConfig())).toBeUndefined();
  });
});
