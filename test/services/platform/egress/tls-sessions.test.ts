import type { SecureVersion, TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { issueCertificate } from '../../../../local/certificates.ts';
import { HOUR_MS } from '../../../../services/platform/durations.ts';
import { TlsSessions } from '../../../../services/platform/egress/tls-sessions.ts';
import { createLoopbackGuard, post } from '../../../support/loopback-guard.ts';
import { startReceiver, testAuthority } from '../../../support/tls-receiver.ts';

afterEach(() => vi.restoreAllMocks());

/** Answers, and ends the connection; `resumed` has an entry per connection. */
async function startClosingReceiver(names: readonly string[], maxVersion?: SecureVersion) {
  const resumed: boolean[] = [];
  const certificate = await issueCertificate(testAuthority, { names });
  const receiver = await startReceiver(
    (request, response) => {
      resumed.push((request.socket as TLSSocket).isSessionReused());
      response.writeHead(204, { connection: 'close' }).end();
    },
    { certificate, ...(maxVersion && { maxVersion }) },
  );
  return Object.assign(receiver, { resumed });
}

describe('TLS sessions', () => {
  it('are resumed by later connections to the same host and port, also of other subscriptions', async () => {
    await using receiver = await startClosingReceiver(['*.example.com']);
    await using other = await startClosingReceiver(['*.example.com']);
    await using guard = createLoopbackGuard();
    const send = (host: string, { port }: { port: number }, subscription: string) =>
      post(guard, `https://${host}.example.com:${port}/`, subscription);
    await send('a', receiver, 'one');
    await send('a', receiver, 'one');
    await send('a', receiver, 'two');
    await send('b', receiver, 'one');
    await send('a', other, 'one');
    expect(receiver.resumed).toEqual([false, true, true, false]);
    expect(other.resumed).toEqual([false]);
  });

  it('are resumed with TLS 1.2 too', async () => {
    await using receiver = await startClosingReceiver(['a.example.com'], 'TLSv1.2');
    await using guard = createLoopbackGuard();
    for (let n = 0; n < 3; n += 1) await post(guard, `https://a.example.com:${receiver.port}/`);
    expect(receiver.resumed).toEqual([false, true, true]);
  });

  it('are not shared between guards', async () => {
    await using receiver = await startClosingReceiver(['*.example.com']);
    for (let n = 0; n < 2; n += 1) {
      await using guard = createLoopbackGuard();
      await post(guard, `https://a.example.com:${receiver.port}/`);
    }
    expect(receiver.resumed).toEqual([false, false]);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'of %s never begin with a certificate of another name',
    async (version) => {
      await using receiver = await startClosingReceiver(['other.example.com'], version);
      await using guard = createLoopbackGuard();
      for (let n = 0; n < 3; n += 1) {
        const failure = await post(guard, `https://a.example.com:${receiver.port}/`).catch(
          (error: unknown) => error,
        );
        expect(failure).toMatchObject({ name: 'EgressError', kind: 'CERTIFICATE_WRONG_NAME' });
      }
      expect(receiver.resumed).toEqual([]);
    },
  );

  it('expire an hour after the last check of the certificate, even when resumed', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const sessions = new TlsSessions();
    sessions.keep('a:443', Buffer.from('first'), false);
    now.mockReturnValue(HOUR_MS - 1);
    sessions.keep('a:443', Buffer.from('second'), true);
    expect(sessions.get('a:443')?.toString()).toBe('second');
    now.mockReturnValue(HOUR_MS);
    expect(sessions.get('a:443')).toBeUndefined();
    sessions.keep('a:443', Buffer.from('third'), false);
    expect(sessions.get('a:443')?.toString()).toBe('third');
  });

  it('are kept up to 64 MiB, most recently used first, without unusually long ones', () => {
    const sessions = new TlsSessions();
    const session = Buffer.alloc(8 * 1024);
    for (let n = 0; n < 8 * 1024; n += 1) sessions.keep(`${n}:443`, session, false);
    expect(sessions.get('0:443')).toBeDefined();
    sessions.keep('0:443', session, true);
    sessions.keep('one more:443', session, false);
    expect([sessions.get('0:443'), sessions.get('1:443')]).toEqual([session, undefined]);
    sessions.keep('long:443', Buffer.alloc(8 * 1024 + 1), false);
    expect(sessions.get('long:443')).toBeUndefined();
  });
});
