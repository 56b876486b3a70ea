import net from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import { issueCertificate } from '../../../../local/certificates.ts';
import type { EgressSettings } from '../../../../services/platform/egress/egress-guard.ts';
import { Exchange } from '../../../../services/webhooks/attempts/exchange.ts';
import {
  ABORTED,
  type Attempt,
  sendAttempt,
  signingKey,
} from '../../../../services/webhooks/attempts/send-attempt.ts';
import { isSuccess } from '../../../../services/webhooks/deliveries/delivery.ts';
import { startDnsResponder } from '../../../support/dns-responder.ts';
import { createLoopbackGuard } from '../../../support/loopback-guard.ts';
import {
  type Listening,
  listen,
  startRawReceiver,
  startReceiver,
  testAuthority,
} from '../../../support/tls-receiver.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
const FORMER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs=';
// Spaces, escapes and an umlaut: bytes that a JSON round trip would change.
const BODY = Buffer.from('{"id": "evt_1",  "amount":9007199254740991, "name":"J\\u00fcrgen é"}');

const KEY = signingKey(SECRET);
const STARTED_AT = new Date();

interface Sending extends Partial<Attempt> {
  readonly timeoutMs?: number;
  readonly settings?: Partial<EgressSettings>;
  readonly exchange?: Exchange;
}

/** Sends one attempt to a receiver, with its own guard. */
async function send(
  { port }: Listening,
  { timeoutMs, settings, exchange = new Exchange(), ...attempt }: Sending = {},
) {
  await using guard = createLoopbackGuard(settings);
  return await sendAttempt(
    guard,
    {
      subscriptionId: 'subscription',
      url: `https://hooks.example.com:${port}/hook?a=b`,
      eventId: 'evt_1',
      body: BODY,
      keys: [KEY],
      startedAt: STARTED_AT,
      ...attempt,
    },
    exchange,
    timeoutMs,
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
    const record = await send(receiver, { keys: [KEY, signingKey(FORMER_SECRET)] });
    expect(record).toEqual({
      endedAt: expect.any(Date),
      latencyMs: expect.any(Number),
      httpStatus: 200,
      responseExcerpt: 'thanks',
      signature: receiver.requests[0]!.headers['webhook-signature'],
      timingMs: Array(4).fill(expect.any(Number)),
      responseHeaders: expect.stringMatching(/^date: /),
    });
    expect(isSuccess(record)).toBe(true);
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/hook?a=b', body: BODY });
    expect(request?.headers).toMatchObject({
      host: `hooks.example.com:${receiver.port}`,
      'content-type': 'application/json',
      'content-length': `${BODY.length}`,
      'user-agent': 'Merchant-Payments-Webhooks/1.0',
      'webhook-id': 'evt_1',
      'webhook-timestamp': `${Math.floor(STARTED_AT.getTime() / 1000)}`,
    });
    for (const secret of [SECRET, FORMER_SECRET]) {
      const verified = new Webhook(secret).verify(request!.body, request!.headers as Record<string, string>);
      expect(verified).toMatchObject({ id: 'evt_1' });
    }
  });

  it('uses the start of the attempt for the signature, and measures its end from there', async () => {
    await using receiver = await startReceiver();
    const startedAt = new Date('2026-02-03T08:00:00.999Z');
    const { endedAt, latencyMs } = await send(receiver, { startedAt });
    expect(endedAt.getTime() - startedAt.getTime()).toBe(latencyMs);
    expect(receiver.requests[0]?.headers).toMatchObject({ 'webhook-timestamp': '1770105600' });
  });

  it.each([301, 302, 303, 307, 308])('follows no %d, and says where it leads', async (status) => {
    await using target = await startReceiver();
    await using receiver = await startReceiver((_request, response) => {
      const location = `https://user:pass@hooks.example.com:${target.port}/new path?token=secret#part`;
      response.writeHead(status, { location }).end();
    });
    const record = await send(receiver);
    const detail = `https://hooks.example.com:${target.port}/new%20path`;
    expect(record).toMatchObject({ httpStatus: status, detail });
    expect(isSuccess(record)).toBe(false);
    expect(receiver.requests).toHaveLength(1);
    expect(target.connections).toEqual([]);
  });

  it.each([
    ['/other', (port: number) => `https://hooks.example.com:${port}/other`],
    ['/'.padEnd(1_000, 'x'), (port: number) => `https://hooks.example.com:${port}/`.padEnd(300, 'x')],
    ['https://[', () => undefined],
    [undefined, () => undefined],
  ])('cuts the Location %s short, or leaves it out', async (location, detailAt) => {
    await using receiver = await startReceiver((_request, response) => {
      response.writeHead(302, location === undefined ? {} : { location }).end();
    });
    expect((await send(receiver)).detail).toBe(detailAt(receiver.port));
  });

  it.each([
    [429, 120_000],
    [503, 120_000],
    [200, undefined],
    [500, undefined],
    [301, undefined],
  ])('honors Retry-After of a %d as %s', async (status, retryAfterMs) => {
    await using receiver = await startReceiver((_request, response) => {
      response.writeHead(status, { 'retry-after': '120' }).end();
    });
    expect((await send(receiver)).retryAfterMs).toBe(retryAfterMs);
  });

  it('counts a 2xx with a body of 64 MB as a success, without reading the whole body', async () => {
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

  it('counts a 2xx with an endless extension of a chunk as a success, without reading it', async () => {
    await using receiver = await startScripted((socket) =>
      flood(socket, 'x', `${HEAD_200}transfer-encoding: chunked\r\n\r\n1;`),
    );
    expect(await send(receiver)).toMatchObject({ httpStatus: 200, responseExcerpt: '' });
  });

  it('keeps headers of the response, short and without secrets', async () => {
    await using receiver = await startReceiver((_request, response) => {
      response.setHeader('set-cookie', ['session=1; HttpOnly', 'other=2']);
      response.setHeader('x-api-key', 'k');
      response.setHeader('x-long', 'x'.repeat(1_000));
      for (let n = 0; n < 20; n += 1) response.setHeader(`x-${n}`, 'y'.repeat(190));
      response.sendDate = false;
      response.writeHead(204).end();
    });
    const { responseHeaders } = await send(receiver);
    expect(responseHeaders!.length).toBeLessThanOrEqual(1_024);
    const secrets = 'set-cookie: [omitted]\nset-cookie: [omitted]\nx-api-key: [omitted]\n';
    expect(responseHeaders!.startsWith(`${secrets}x-long: ${'x'.repeat(199)}…\n`)).toBe(true);
  });

  it('reuses the connection after reading a complete response', async () => {
    await using receiver = await startReceiver((_request, response) => response.end('x'.repeat(10_000)));
    await using guard = createLoopbackGuard();
    const url = `https://hooks.example.com:${receiver.port}/`;
    for (let i = 0; i < 3; i++) {
      const { timingMs } = await sendAttempt(
        guard,
        { subscriptionId: 's', url, eventId: 'evt_1', body: BODY, keys: [KEY], startedAt: STARTED_AT },
        new Exchange(),
      );
      const ofConnection = i === 0 ? expect.any(Number) : null;
      expect(timingMs).toEqual([ofConnection, ofConnection, ofConnection, expect.any(Number)]);
      await turn();
    }
    expect(receiver.requests).toHaveLength(3);
    expect(receiver.connections).toHaveLength(1);
  });
});

describe('the deadline of an attempt', () => {
  it.each([
    ['says nothing', () => {}, 'TIMEOUT'],
    [
      'drips its headers',
      (socket: TLSSocket) => drip(socket, `${HEAD_200}x-slow: ${'x'.repeat(1000)}`),
      'TIMEOUT',
    ],
    [
      'drips its body',
      (socket: TLSSocket) => drip(socket, 'x'.repeat(1000), `${HEAD_200}content-length: 1000\r\n\r\n`),
      'BODY_TIMEOUT',
    ],
    [
      'sends one interim answer after the other',
      (socket: TLSSocket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)),
      'TIMEOUT',
    ],
  ])('cuts off a receiver that %s', async (_what, script, failure) => {
    await using receiver = await startScripted(script);
    const record = await send(receiver, { timeoutMs: 400 });
    expect(record).toEqual({
      endedAt: expect.any(Date),
      latencyMs: expect.any(Number),
      failure,
      signature: expect.stringMatching(/^v1,/),
      timingMs: Array(4).fill(expect.any(Number)),
      ...(failure === 'BODY_TIMEOUT' && { responseHeaders: 'content-length: 1000' }),
    });
    expect(record.latencyMs).toBeGreaterThanOrEqual(395);
    expect(record.latencyMs).toBeLessThan(5_000);
    await vi.waitFor(() => expect(receiver.connections[0]?.destroyed).toBe(true), 40_000);
  });

  it('includes the wait for a connection, after which nothing is sent', async () => {
    await using receiver = await startReceiver(async (_request, response) => {
      await delay(2_000);
      response.end();
    });
    await using guard = createLoopbackGuard({ connectionsPerPool: 1 });
    const attempt = (eventId: string, timeoutMs: number) =>
      sendAttempt(
        guard,
        {
          subscriptionId: 's',
          url: `https://hooks.example.com:${receiver.port}/`,
          eventId,
          body: BODY,
          keys: [KEY],
          startedAt: STARTED_AT,
        },
        new Exchange(),
        timeoutMs,
      );
    const [first, second] = await Promise.all([attempt('evt_1', 5000), attempt('evt_2', 200)]);
    expect(first).toMatchObject({ httpStatus: 200 });
    expect(second).toMatchObject({ failure: 'CONNECT_TIMEOUT' });
    expect(second.latencyMs).toBeLessThan(1_500);
    await delay(100);
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual(['evt_1']);
  });

  it('reports the step that was in progress', async () => {
    await using mute = await listen(
      net.createServer((socket) => socket.resume()),
      '127.0.0.1',
    );
    const timeoutMs = 300;
    expect(await send(mute, { timeoutMs })).toMatchObject({ failure: 'TLS_TIMEOUT' });
    await using dns = await startDnsResponder(() => 'SILENCE');
    const settings = { dnsServers: [dns.server] };
    expect(await send(mute, { timeoutMs, settings })).toMatchObject({ failure: 'DNS_TIMEOUT' });
  });

  it('ends at once when the caller aborts the attempt', async () => {
    await using receiver = await startScripted(() => {});
    const exchange = new Exchange();
    const sending = send(receiver, { exchange });
    await vi.waitFor(() => expect(receiver.connections).toHaveLength(1), 40_000);
    exchange.stop(ABORTED);
    const record = await sending;
    expect(record).toMatchObject({ failure: 'WORKER_LOST' });
    expect(record.latencyMs).toBeLessThan(5_000);
  });

  it('ends when the guard is closed', async () => {
    await using receiver = await startScripted(() => {});
    await using guard = createLoopbackGuard();
    const url = `https://hooks.example.com:${receiver.port}/`;
    const sending = sendAttempt(
      guard,
      { subscriptionId: 's', url, eventId: 'e', body: BODY, keys: [KEY], startedAt: STARTED_AT },
      new Exchange(),
    );
    await vi.waitFor(() => expect(receiver.connections).toHaveLength(1), 40_000);
    await guard.close();
    expect(await sending).toMatchObject({ failure: 'WORKER_LOST' });
  });
});

describe('an attempt without a complete response', () => {
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
    [
      'continues a request that did not ask for it',
      (socket: TLSSocket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${HEAD_200}\r\n`),
      'PROTOCOL',
    ],
    ['sends a status of 000', (socket: TLSSocket) => socket.write('HTTP/1.1 000 None\r\n\r\n'), 'PROTOCOL'],
    [
      'floods with interim answers',
      (socket: TLSSocket) => flood(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
      'PROTOCOL',
    ],
  ])('has a failure when the receiver %s', async (_what, script, failure) => {
    await using receiver = await startScripted((socket) => void script(socket));
    expect(await send(receiver)).toMatchObject({ failure });
  });

  it('is not one whose response ends with its connection', async () => {
    await using receiver = await startScripted(
      (socket) => void socket.end(`${HEAD_200}connection: close\r\n\r\nall of it`),
    );
    expect(await send(receiver)).toMatchObject({ httpStatus: 200, responseExcerpt: 'all of it' });
  });

  it('reports why the connection failed', async () => {
    await using receiver = await startReceiver();
    expect(await send(receiver, { settings: { allowCidrs: [] } })).toMatchObject({
      failure: 'EGRESS_DENIED',
    });
    expect(await send(receiver, { settings: { extraCa: undefined } })).toMatchObject({
      failure: 'CERTIFICATE_UNKNOWN_ISSUER',
    });
    const certificate = await issueCertificate(testAuthority, { names: ['a.example.com', '*.example.org'] });
    await using another = await startReceiver(undefined, { certificate });
    expect(await send(another)).toMatchObject({
      failure: 'CERTIFICATE_WRONG_NAME',
      detail: 'a.example.com, *.example.org',
    });
    const port = receiver.port;
    await receiver[Symbol.asyncDispose]();
    expect(await send({ ...receiver, port })).toMatchObject({ failure: 'CONNECTION_REFUSED' });
  });

  it('throws for a bug on our side', async () => {
    await using receiver = await startReceiver();
    await expect(send(receiver, { keys: [] })).rejects.toThrow(TypeError);
    await expect(send(receiver, { eventId: 'evt\r\nx-injected: 1' })).rejects.toThrow('invalid');
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

/** Sends the start, then the text over and over for as long as anyone reads. */
async function flood(socket: TLSSocket, text: string, start = ''): Promise<void> {
  socket.write(start);
  const chunk = text.repeat(1_000);
  while (!socket.destroyed) await new Promise((go) => socket.write(chunk, go));
}
