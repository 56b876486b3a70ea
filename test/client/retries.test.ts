import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ApiError, ConnectionError, MerchantPayments } from '../../client/index.ts';
import { ERROR_RETRIES } from '../../gateway/docs/error-advice.texts.ts';
import { PROBLEM_TYPES, type ProblemCode } from '../../gateway/problems/problem-types.ts';
import { answer, startScriptedServer } from './scripted-server.ts';

const apiKey = `mpk_live_${'a'.repeat(38)}`;
const clientOf = (baseUrl: string, options: object = {}) =>
  new MerchantPayments({ apiKey, baseUrl, ...options });
const PAGE = { data: [], hasMore: false, nextCursor: null };
const creation = { url: 'https://shop.example/hooks', eventTypes: ['refund.requested.v1' as const] };

function fail(response: ServerResponse, code: ProblemCode, headers?: Record<string, string>): void {
  const { status } = PROBLEM_TYPES[code];
  answer(response, status, { status, code, detail: `a case of ${code}`, requestId: 'r1' }, headers);
}

it('retries exactly what the guide about errors allows', async () => {
  const server = await startScriptedServer((response, _turn, url) =>
    fail(response, url.split('/')[1] as ProblemCode),
  );
  const codes = Object.keys(ERROR_RETRIES) as ProblemCode[];
  await Promise.all(
    codes.map(async (code) => {
      const client = clientOf(`${server.baseUrl}/${code}/`, { maxRetries: 1 });
      const failure = await client.refundCases.list().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ApiError);
      expect(failure).toMatchObject({
        code,
        status: PROBLEM_TYPES[code].status,
        detail: `a case of ${code}`,
        requestId: 'r1',
      });
    }),
  );
  const attempts = (code: string) => server.received.filter(({ url }) => url.startsWith(`/${code}/`)).length;
  expect(Object.fromEntries(codes.map((code) => [code, attempts(code)]))).toEqual(
    Object.fromEntries(codes.map((code) => [code, ERROR_RETRIES[code] === 'NO' ? 1 : 2])),
  );
});

describe('a creation', () => {
  const outages: [string, (response: ServerResponse) => void][] = [
    ['503', (response) => fail(response, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' })],
    ['429', (response) => fail(response, 'RATE_LIMITED', { 'retry-after': '0' })],
    ['a connection that breaks before the response', (response) => response.destroy()],
    [
      'a connection that breaks in the response',
      (response) => {
        response.writeHead(201, { 'content-length': '100' }).write('{"id":');
        setTimeout(() => response.destroy(), 50);
      },
    ],
    ['silence', () => {}],
  ];

  it.each(outages)('survives %s, with one idempotency key for all attempts', async (_what, outage) => {
    const server = await startScriptedServer((response, turn) =>
      turn === 0 ? outage(response) : answer(response, 201, { id: 's1' }),
    );
    const client = clientOf(server.baseUrl, { timeoutMs: 2_000 });
    expect(await client.webhookSubscriptions.create(creation)).toEqual({ id: 's1' });
    expect(server.received.length).toBeGreaterThan(1);
    const key = server.received[0]!.headers['idempotency-key'];
    expect(key).toMatch(/^[0-9a-f-]{36}$/);
    for (const { headers, body } of server.received) {
      expect(headers['idempotency-key']).toBe(key);
      expect(JSON.parse(body)).toEqual(creation);
    }
  });

  it('refuses a timeout of a call that no timer can wait', async () => {
    const { products } = clientOf('http://127.0.0.1:9');
    await expect(products.get('p1', { timeoutMs: 1_500.5 })).rejects.toThrow(TypeError);
  });

  it('uses a new key for each call, or the given one', async () => {
    const server = await startScriptedServer((response) => answer(response, 201, {}));
    const { webhookSubscriptions } = clientOf(server.baseUrl);
    await webhookSubscriptions.create(creation);
    await webhookSubscriptions.create(creation);
    await webhookSubscriptions.create(creation, { idempotencyKey: 'order-7' });
    const [first, second, third] = server.received.map(({ headers }) => headers['idempotency-key']);
    expect(first).not.toBe(second);
    expect(third).toBe('order-7');
  });
});

it('waits as long as Retry-After says, and reports a wait that is too long instead', async () => {
  const server = await startScriptedServer((response, turn) => {
    if (turn === 0) return fail(response, 'RATE_LIMITED', { 'retry-after': '2' });
    if (turn === 1) return answer(response, 200, PAGE);
    fail(response, 'SERVICE_UNAVAILABLE', { 'retry-after': '61' });
  });
  const client = clientOf(server.baseUrl);
  expect(await client.refundCases.list()).toEqual(PAGE);
  const [first, second] = server.received;
  expect(second!.atMs - first!.atMs).toBeGreaterThanOrEqual(2_000);
  const tooLong = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 61 };
  await expect(client.refundCases.list()).rejects.toMatchObject(tooLong);
  expect(server.received).toHaveLength(3);
});

it('reads a Retry-After of seconds or a date, and ignores any other', async () => {
  const inAMinute = new Date(Date.now() + 59_000).toUTCString();
  const sent = ['7', inAMinute, new Date(0).toUTCString(), '1.5', '-1', 'soon'];
  const server = await startScriptedServer((response, turn) =>
    fail(response, 'RATE_LIMITED', { 'retry-after': sent[turn]! }),
  );
  const client = clientOf(server.baseUrl, { maxRetries: 0 });
  const asked: unknown[] = [];
  for (const _ of sent)
    await client.products.get('p1').catch((error: ApiError) => asked.push(error.retryAfterSeconds));
  const inTime = expect.toSatisfy((seconds: number) => seconds > 50 && seconds < 60);
  expect(asked).toEqual([7, inTime, 0, undefined, undefined, undefined]);
});

it('gives up after maxRetries, each wait longer than the one before', async () => {
  const server = await startScriptedServer((response) => response.destroy());
  const failure = await clientOf(server.baseUrl, { maxRetries: 2 })
    .products.get('p1')
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConnectionError);
  const [first, second, third] = server.received.map(({ atMs }) => atMs);
  expect(server.received).toHaveLength(3);
  expect(second! - first!).toBeGreaterThanOrEqual(1_000);
  expect(third! - second!).toBeGreaterThanOrEqual(2_000);
});

it('ends with the signal of its caller, between attempts and during one', async () => {
  const server = await startScriptedServer((response, turn) => {
    if (turn === 0) fail(response, 'SERVICE_UNAVAILABLE', { 'retry-after': '50' });
  });
  const client = clientOf(server.baseUrl);
  for (const attempts of [1, 2]) {
    const stop = new AbortController();
    const call = client.products.get('p1', { signal: stop.signal });
    await expect.poll(() => server.received.length).toBe(attempts);
    stop.abort(new Error('the shop closes'));
    await expect(call).rejects.toThrow('the shop closes');
  }
  expect(server.received).toHaveLength(2);
});

it('rejects redirects and pages of other servers', async () => {
  const elsewhere = await startScriptedServer((response) => answer(response, 200, PAGE));
  const server = await startScriptedServer((response, _turn, url) => {
    if (url.startsWith('/moved')) response.writeHead(302, { location: elsewhere.baseUrl }).end();
    else response.writeHead(url.startsWith('/broken') ? 502 : 200).end('<h1>Welcome</h1>');
  });
  for (const [path, status] of [
    ['/moved', 302],
    ['/broken', 502],
    ['/', 200],
  ] as const) {
    const failure = await clientOf(server.baseUrl + path)
      .refundCases.list()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({ status, code: undefined });
    expect((failure as Error).message).toContain(`${server.baseUrl} answered ${status}`);
  }
  expect(server.received).toHaveLength(3);
  expect(elsewhere.received).toEqual([]);
});
