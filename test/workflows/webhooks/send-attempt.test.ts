import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import type { EgressSettings } from '../../../services/platform/egress/egress-guard.ts';
import {
  type Attempt,
  isDelivered,
  type SendAttemptDeps,
  sendAttempt,
} from '../../../workflows/webhooks/send-attempt.ts';
import { createLoopbackGuard } from '../../support/loopback-guard.ts';
import { type Listening, startRawReceiver, startReceiver } from '../../support/tls-receiver.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
const FORMER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs=';
// Spaces, escapes and an umlaut: bytes that a JSON round trip would change.
const BODY = Buffer.from('{"id": "evt_1",  "amount":9007199254740991, "name":"J\\u00fcrgen é"}');

interface Sending extends Partial<Attempt> {
  readonly deps?: Partial<SendAttemptDeps>;
  readonly settings?: Partial<EgressSettings>;
  readonly signal?: AbortSignal;
}

/** Sends one attempt to a receiver by a guard of its own. */
async function send({ port }: Listening, { deps, settings, signal, ...attempt }: Sending = {}) {
  await using guard = createLoopbackGuard(settings);
  return await sendAttempt(
    { guard, ...deps },
    {
      poolKey: 'subscription',
      url: `https://hooks.example.com:${port}/hook?a=b`,
      webhookId: 'evt_1',
      body: BODY,
      secrets: [SECRET],
      ...attempt,
    },
    signal,
  );
}

/** Answers with bytes, once the request has begun. */
function startScripted(script: (socket: TLSSocket) => void | Promise<void>) {
  return startRawReceiver((socket) => socket.once('data', () => void script(socket)).resume());
}

const HEAD_200 = 'HTTP/1.1 200 OK\r\n';

describe('sending an attempt', () => {
  it('posts the exact bytes, signed by both secrets of a rotation', async () => {
    await using receiver = await startReceiver((_request, response) => response.writeHead(200).end('thanks'));
    const record = await send(receiver, { secrets: [SECRET, FORMER_SECRET] });
    expect(record).toEqual({
      startedAt: expect.any(Date),
      latencyMs: expect.any(Number),
      httpStatus: 200,
      responseExcerpt: 'thanks',
    });
    expect(isDelivered(record)).toBe(true);
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/hook?a=b', body: BODY });
    expect(request?.headers).toMatchObject({
      host: `hooks.example.com:${receiver.port}`,
      'content-type': 'application/json',
      'content-length': `${BODY.length}`,
      'user-agent': 'Merchant-Payments-Webhooks/1.0',
      'webhook-id': 'evt_1',
      'webhook-timestamp': `${Math.floor(record.startedAt.getTime() / 1000)}`,
    });
    for (const secret of [SECRET, FORMER_SECRET]) {
      const verified = new Webhook(secret).verify(request!.body, request!.headers as Record<string, string>);
      expect(verified).toMatchObject({ id: 'evt_1' });
    }
  });

  it('dates the signature by the start of the attempt', async () => {
    await using receiver = await startReceiver();
    const now = new Date('2026-02-03T08:00:00.999Z');
    const record = await send(receiver, { deps: { now: () => now, userAgent: 'Test/1' } });
    expect(record.startedAt).toBe(now);
    expect(receiver.requests[0]?.headers).toMatchObject({
      'webhook-timestamp': '1770105600',
      'user-agent': 'Test/1',
    });
  });

  it.each([301, 302, 303, 307, 308])('follows no %d', async (status) => {
    await using target = await startReceiver();
    await using receiver = await startReceiver((_request, response) => {
      response.writeHead(status, { location: `https://hooks.example.com:${target.port}/` }).end();
    });
    const record = await send(receiver);
    expect(record).toMatchObject({ httpStatus: status });
    expect(isDelivered(record)).toBe(false);
    expect(receiver.requests).toHaveLength(1);
    expect(target.connections).toEqual([]);
  });

  it.each([
    [200, true],
    [204, true],
    [299, true],
    [300, false],
    [400, false],
    [410, false],
    [500, false],
  ])('takes %d for delivered: %s', async (status, delivered) => {
    await using receiver = await startReceiver((_request, response) => response.writeHead(status).end());
    const record = await send(receiver);
    expect(record).toMatchObject({ httpStatus: status, responseExcerpt: '' });
    expect(isDelivered(record)).toBe(delivered);
  });

  it.each([
    [429, 120_000],
    [503, 120_000],
    [200, undefined],
    [500, undefined],
    [301, undefined],
  ])('heeds Retry-After of a %d as %s', async (status, retryAfterMs) => {
    await using receiver = await startReceiver((_request, response) => {
      response.writeHead(status, { 'retry-after': '120' }).end();
    });
    expect((await send(receiver)).retryAfterMs).toBe(retryAfterMs);
  });

  it('takes a 2xx with a body of 64 MB for a success and leaves the body', async () => {
    let written = 0;
    await using receiver = await startReceiver(async (_request, response) => {
      const chunk = Buffer.alloc(64 * 1024, 'x');
      response.writeHead(200, { 'content-length': 64 * 1024 * 1024 });
      while (written < 64 * 1024 * 1024 && !response.destroyed) {
        written += chunk.length;
        if (!response.write(chunk))
          await Promise.race([new Promise((go) => response.once('drain', go)), delay(500)]);
      }
    });
    const record = await send(receiver);
    expect(record).toMatchObject({ httpStatus: 200, responseExcerpt: 'x'.repeat(4096) });
    await vi.waitFor(() => expect(receiver.connections[0]?.destroyed).toBe(true), 40_000);
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  it('uses the connection again after reading a whole answer', async () => {
    await using receiver = await startReceiver((_request, response) => response.end('x'.repeat(10_000)));
    await using guard = createLoopbackGuard();
    const url = `https://hooks.example.com:${receiver.port}/`;
    for (let i = 0; i < 3; i++) {
      await sendAttempt({ guard }, { poolKey: 's', url, webhookId: 'evt_1', body: BODY, secrets: [SECRET] });
      await turn();
    }
    expect(receiver.requests).toHaveLength(3);
    expect(receiver.connections).toHaveLength(1);
  });
});

describe('the deadline of an attempt', () => {
  it.each([
    ['says nothing', () => {}],
    ['drips its headers', (socket: TLSSocket) => drip(socket, `${HEAD_200}x-slow: ${'x'.repeat(1000)}`)],
    [
      'drips its body',
      (socket: TLSSocket) => drip(socket, 'x'.repeat(1000), `${HEAD_200}content-length: 1000\r\n\r\n`),
    ],
    [
      'sends one interim answer after the other',
      (socket: TLSSocket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)),
    ],
  ])('is a wall for a receiver that %s', async (_what, script) => {
    await using receiver = await startScripted(script);
    const record = await send(receiver, { deps: { totalTimeoutMs: 400 } });
    expect(record).toEqual({
      startedAt: expect.any(Date),
      latencyMs: expect.any(Number),
      failureKind: 'TIMEOUT',
    });
    expect(record.latencyMs).toBeGreaterThanOrEqual(395);
    expect(record.latencyMs).toBeLessThan(5_000);
    await vi.waitFor(() => expect(receiver.connections[0]?.destroyed).toBe(true), 40_000);
  });

  it('counts the wait for a connection, and what was given up is never sent', async () => {
    await using receiver = await startReceiver(async (_request, response) => {
      await delay(2_000);
      response.end();
    });
    await using guard = createLoopbackGuard({ connectionsPerPool: 1 });
    const attempt = (webhookId: string, totalTimeoutMs: number) =>
      sendAttempt(
        { guard, totalTimeoutMs },
        {
          poolKey: 's',
          url: `https://hooks.example.com:${receiver.port}/`,
          webhookId,
          body: BODY,
          secrets: [SECRET],
        },
      );
    const [first, second] = await Promise.all([attempt('evt_1', 5000), attempt('evt_2', 200)]);
    expect(first).toMatchObject({ httpStatus: 200 });
    expect(second).toMatchObject({ failureKind: 'TIMEOUT' });
    expect(second.latencyMs).toBeLessThan(1_500);
    await delay(100);
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual(['evt_1']);
  });

  it('ends at once when the caller says so, before or while sending', async () => {
    await using receiver = await startScripted(() => {});
    expect(await send(receiver, { signal: AbortSignal.abort() })).toMatchObject({ failureKind: 'ABORTED' });
    expect(receiver.connections).toEqual([]);
    const record = await send(receiver, { signal: AbortSignal.timeout(200) });
    expect(record).toMatchObject({ failureKind: 'ABORTED' });
    expect(record.latencyMs).toBeLessThan(5_000);
  });

  it('ends when the guard is closed', async () => {
    await using receiver = await startScripted(() => {});
    await using guard = createLoopbackGuard();
    const url = `https://hooks.example.com:${receiver.port}/`;
    const sending = sendAttempt(
      { guard },
      { poolKey: 's', url, webhookId: 'e', body: BODY, secrets: [SECRET] },
    );
    await vi.waitFor(() => expect(receiver.connections).toHaveLength(1), 40_000);
    await guard.close();
    expect(await sending).toMatchObject({ failureKind: 'ABORTED' });
  });
});

describe('an attempt without a whole answer', () => {
  it.each([
    ['closes its side before answering', (socket: TLSSocket) => socket.end(), 'CONNECTION_RESET'],
    [
      'closes its side amid the headers',
      (socket: TLSSocket) => socket.end(`${HEAD_200}x: `),
      'CONNECTION_RESET',
    ],
    [
      'closes its side amid the body',
      (socket: TLSSocket) => socket.end(`${HEAD_200}content-length: 9\r\n\r\nhalf`),
      'CONNECTION_RESET',
    ],
    ['hangs up', (socket: TLSSocket) => socket.destroy(), 'CONNECTION_RESET'],
    ['speaks no HTTP', (socket: TLSSocket) => socket.write('220 mail.example.com ESMTP\r\n'), 'PROTOCOL'],
    [
      'sends headers without end',
      (socket: TLSSocket) => socket.write(`${HEAD_200}x: ${'x'.repeat(100_000)}`),
      'PROTOCOL',
    ],
    [
      'contradicts itself about the length',
      (socket: TLSSocket) => socket.write(`${HEAD_200}content-length: 1\r\ncontent-length: 2\r\n\r\nab`),
      'PROTOCOL',
    ],
    [
      'breaks its chunks',
      (socket: TLSSocket) => socket.write(`${HEAD_200}transfer-encoding: chunked\r\n\r\nzz\r\n`),
      'PROTOCOL',
    ],
  ])('is named when the receiver %s', async (_what, script, failureKind) => {
    await using receiver = await startScripted((socket) => void script(socket));
    expect(await send(receiver)).toMatchObject({ failureKind });
  });

  it('does not mistake for one an answer that ends with its connection', async () => {
    await using receiver = await startScripted(
      (socket) => void socket.end(`${HEAD_200}connection: close\r\n\r\nall of it`),
    );
    expect(await send(receiver)).toMatchObject({ httpStatus: 200, responseExcerpt: 'all of it' });
  });

  it.each([
    'http://hooks.example.com/',
    'https://127.0.0.1:8443/',
    'https://0x7f.1:8443/',
    'https://localhost:8443/',
    'https://[::ffff:169.254.169.254]/',
    'https://hooks.example.com:22/',
    'https://u:p@hooks.example.com/',
  ])('is EGRESS_DENIED for %s', async (url) => {
    await using receiver = await startReceiver();
    expect(await send(receiver, { url, settings: { allowCidrs: [] } })).toMatchObject({
      failureKind: 'EGRESS_DENIED',
    });
  });

  it('names what kept the connection from coming about', async () => {
    await using receiver = await startReceiver();
    expect(await send(receiver, { settings: { allowCidrs: [] } })).toMatchObject({
      failureKind: 'EGRESS_DENIED',
    });
    expect(await send(receiver, { settings: { extraCa: undefined } })).toMatchObject({ failureKind: 'TLS' });
    const port = receiver.port;
    await receiver[Symbol.asyncDispose]();
    expect(await send({ ...receiver, port })).toMatchObject({ failureKind: 'CONNECTION_REFUSED' });
  });

  it('throws for a mistake of ours', async () => {
    await using receiver = await startReceiver();
    await expect(send(receiver, { secrets: [] })).rejects.toThrow(TypeError);
    await expect(send(receiver, { webhookId: 'evt\r\nx-injected: 1' })).rejects.toThrow('invalid');
    expect(receiver.requests).toEqual([]);
  });
});

/** Sends the start at once, then one character each 20 ms for as long as anyone listens. */
async function drip(socket: TLSSocket, text: string, start = ''): Promise<void> {
  socket.write(start);
  for (const character of text) {
    if (socket.destroyed) return;
    socket.write(character);
    await delay(20);
  }
}
