import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import type { ProblemCode } from '../../gateway/problems/problem-types.ts';
import { AMBIGUOUS_BODIES } from '../support/ambiguous-bodies.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { call, exchange, expectOwnHeaders, expectProblem, sendRaw } from './http-call.ts';

const SUBSCRIPTIONS = '/v1/webhook-subscriptions';

const gateways = await startGateways({
  RATE_LIMIT_LIVE: '100000',
  RATE_LIMIT_ADDRESS: '100000',
  HTTP_REQUEST_TIMEOUT: '1s',
});
const key = (await newMerchant(gateways)).keys.live;
const live = gateways.ports.live;
afterAll(() => gateways.close());

const uuid = randomUUID();

describe('methods', () => {
  it.each([
    ['POST', '/v1/refund-cases', 'GET, HEAD'],
    ['PUT', SUBSCRIPTIONS, 'GET, HEAD, POST'],
    ['PATCH', `/v1/products/${uuid}`, 'GET, HEAD'],
    ['OPTIONS', '/v1/refund-cases', 'GET, HEAD'],
    ['TRACE', '/v1/refund-cases', 'GET, HEAD'],
    ['PROPFIND', '/v1/refund-cases?limit=x', 'GET, HEAD'],
    ['GET', `${SUBSCRIPTIONS}/${uuid}/disable`, 'POST'],
    ['POST', '/docs/errors', 'GET, HEAD'],
  ])('%s %s is 405 and allows %s', async (method, path, allow) => {
    const answer = await call(live, path, { method });
    expectProblem(answer, 'METHOD_NOT_ALLOWED', allow);
    expect(answer.headers.allow).toBe(allow);
  });

  it('HEAD responds as GET, without the body', async () => {
    const got = await call(live, '/v1/refund-cases', { key });
    const headed = await call(live, '/v1/refund-cases', { key, method: 'HEAD' });
    expect(headed).toMatchObject({ status: 200, text: '' });
    expect(headed.headers['content-length']).toBe(got.headers['content-length']);
    expect(headed.headers['content-type']).toBe(got.headers['content-type']);
    const refused = await call(live, '/v1/refund-cases?limit=0', { key, method: 'HEAD' });
    expect(refused).toMatchObject({ status: 400, text: '' });
    expect(refused.headers['content-type']).toBe('application/problem+json');
    expect((await call(live, `${SUBSCRIPTIONS}/${uuid}/disable`, { method: 'HEAD' })).status).toBe(405);
  });
});

it('a target in absolute form is reduced to its path', async () => {
  const origin = 'https://api.example';
  expect((await call(live, `${origin}/v1/refund-cases`, { key })).status).toBe(200);
  const refused = await call(live, `${origin}/v1/refund-cases?limit=1`, { method: 'PUT' });
  expectProblem(refused, 'METHOD_NOT_ALLOWED');
  expect(refused.json.instance).toBe('/v1/refund-cases');
  expect((await call(live, origin)).json).toMatchObject({ code: 'ROUTE_NOT_FOUND', instance: '/' });
});

it.each([
  'application/json;',
  'Application/JSON ;\tcharset=UTF-8',
  'application/json; charset="utf-8"; ',
  'application/json;charset=utf8',
])('a body may be sent as %j', async (type) => {
  const headers = { 'content-type': type, 'idempotency-key': 'k' };
  expectProblem(await call(live, SUBSCRIPTIONS, { key, headers, body: '{}' }), 'INVALID_REQUEST', '/url');
});

describe('on the socket', () => {
  it.each<[what: string, code: ProblemCode, bytes: string]>([
    ['no HTTP', 'INVALID_REQUEST', 'hello\r\n\r\n'],
    ['an unknown method on no path', 'ROUTE_NOT_FOUND', 'FOO / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an unknown method on a broken path', 'INVALID_REQUEST', 'FOO /v1/products/%zz HTTP/1.1\r\n\r\n'],
    ['half a request line', 'INVALID_REQUEST', 'FOO /v1/refund-cases HTTP/1.1'],
    ['HTTP/2', 'INVALID_REQUEST', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a space in a header name', 'INVALID_REQUEST', 'GET / HTTP/1.1\r\nHo st: a\r\n\r\n'],
    ['NUL in a header', 'INVALID_REQUEST', 'GET / HTTP/1.1\r\nHost: a\0\r\n\r\n'],
    ['no Host', 'INVALID_REQUEST', 'GET /v1/refund-cases HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [
      'two Hosts',
      'INVALID_REQUEST',
      'GET /v1/refund-cases HTTP/1.1\r\nHost: a\r\nhost: b\r\nConnection: close\r\n\r\n',
    ],
    ['HTTP/0.9', 'INVALID_REQUEST', 'GET /v1/refund-cases\r\n\r\n'],
    [
      'HTTP/1.1 that calls itself 2.0',
      'INVALID_REQUEST',
      'GET / HTTP/2.0\r\nHost: a\r\nConnection: close\r\n\r\n',
    ],
    ['an invalid Host', 'INVALID_REQUEST', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'],
    [
      'a fragment',
      'INVALID_REQUEST',
      'GET /v1/refund-cases#a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    ],
    [
      'two keys',
      'INVALID_REQUEST',
      'GET /v1/refund-cases HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n',
    ],
    [
      'two content types',
      'INVALID_REQUEST',
      'POST /v1/webhook-subscriptions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\ncontent-type: a/b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    ],
    ['CONNECT', 'ROUTE_NOT_FOUND', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
    [
      'a target without a path',
      'ROUTE_NOT_FOUND',
      'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    ],
    ['large headers', 'HEADERS_TOO_LARGE', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`],
    ['a very long target', 'URI_TOO_LONG', `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['half a request', 'REQUEST_TIMEOUT', 'GET /v1/refund-cases HTTP/1.1\r\nHost: a\r\n'],
  ])('%s gets %s', async (_what, code, bytes) => {
    const answer = await sendRaw(live, bytes);
    expectProblem(answer, code);
    expect(answer.headers.connection).toBe('close');
  });

  it.each(AMBIGUOUS_BODIES)('%s ends the connection', async (_what, head, rest = '0\r\n\r\n') => {
    const start = `POST ${SUBSCRIPTIONS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`;
    const type = 'Content-Type: application/json\r\nIdempotency-Key: k\r\n';
    const smuggled = `GET /v1/refund-cases HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const received = await exchange(live, `${start}${type}${head}\r\n\r\n${rest}${smuggled}`);
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
    expect(received).toContain('"code":"INVALID_REQUEST"');
  });

  it.each([
    ['HTTP/1.0', 'GET /v1/refund-cases HTTP/1.0\r\nHost: a'],
    [
      'HTTP/1.0 that names an encoding',
      'POST /v1/refund-cases HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked',
    ],
  ])('a connection of %s is not kept', async (_what, head) => {
    const received = await exchange(live, `${head}\r\n\r\n${head}\r\n\r\n`);
    expect(received.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1);
  });

  it('a request that arrives byte by byte is not waited for', async () => {
    for (const bytes of [
      'GET /v1/refund-cases HTTP/1.1\r\nHost: a\r\nX: ',
      `POST ${SUBSCRIPTIONS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{`,
    ]) {
      const socket = connect(live, '127.0.0.1', () => socket.write(bytes));
      const trickle = setInterval(() => socket.write(' '), 50);
      socket.on('error', () => undefined);
      const [answer] = await once(socket, 'data');
      clearInterval(trickle);
      expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /);
      socket.destroy();
    }
  });

  it.each([
    ['FOO', '/v1/refund-cases', 'GET, HEAD'],
    ['GETS', `${SUBSCRIPTIONS}?limit=1`, 'GET, HEAD, POST'],
    ['get', `http://a${SUBSCRIPTIONS}`, 'GET, HEAD, POST'],
    ['PLAY', `${SUBSCRIPTIONS}/${uuid}/disable`, 'POST'],
    ['CONNECT', '/v1/refund-cases', 'GET, HEAD'],
  ])('the method %s, unknown to HTTP, on %s is 405 and allows %s', async (method, target, allow) => {
    const answer = await sendRaw(live, `${method} ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expectProblem(
      answer,
      'METHOD_NOT_ALLOWED',
      `The method ${method} is not allowed here; allowed: ${allow}.`,
    );
    expect(answer.headers).toMatchObject({ allow, connection: 'close' });
    expect(answer.json.instance).toBe(/\/v1[^?]*/.exec(target)![0]);
  });

  it.each([
    ['an invalid target', 400, 'HEAD ;/v1/refund-cases HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an invalid header', 400, 'HEAD /v1/refund-cases HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n'],
    ['large headers', 431, `HEAD / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`],
  ])('HEAD with %s is %d without a body', async (_what, status, bytes) => {
    for (const earlier of ['', 'GET /nope HTTP/1.1\r\nHost: a\r\n\r\n']) {
      const received = await exchange(live, earlier + bytes);
      const answer = received.slice(received.lastIndexOf('HTTP/1.1 '));
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*\r\ncontent-length: [1-9][^]*\r\n\r\n$`));
    }
  });

  it('a long method is truncated', async () => {
    const answer = await sendRaw(live, `${'M'.repeat(9_000)} /v1/refund-cases HTTP/1.1\r\n\r\n`);
    expectProblem(answer, 'METHOD_NOT_ALLOWED', /^The method M{50} is/);
  });

  it('an unknown expectation is not an error', async () => {
    const head = `GET /v1/refund-cases HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n`;
    expect((await sendRaw(live, `${head}Expect: wonders\r\n\r\n`)).status).toBe(200);
  });

  it('a request for an upgrade is handled as an ordinary request', async () => {
    const head = `GET /nope HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    expectProblem(await sendRaw(live, head), 'ROUTE_NOT_FOUND');
  });
});

it('the request id is our own, on successes too, and never the client’s', async () => {
  const headers = { 'request-id': 'mine', 'x-request-id': 'mine' };
  const [first, second] = await Promise.all([
    call(live, '/v1/refund-cases', { key, headers }),
    call(live, '/v1/refund-cases', { key, headers }),
  ]);
  expect(first.status).toBe(200);
  expectOwnHeaders(first);
  expect(first.headers['request-id']).not.toBe(second.headers['request-id']);
});

describe('one connection with many requests', () => {
  const list = `GET /v1/refund-cases HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer `;
  const get = () => `${list}${key}\r\n\r\n`;
  const last = () => `${list}${key}\r\nConnection: close\r\n\r\n`;
  const post = (path: string, rest: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${rest}`;
  const statuses = async (bytes: string) =>
    (await exchange(live, bytes)).match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(-3)));

  it.each<[what: string, bytes: () => string]>([
    ['an unknown path', () => post('/nope', 'Content-Length: 5\r\n\r\nhello')],
    ['an unexpected body', () => `${list}${key}\r\nContent-Length: 5\r\n\r\nhello`],
    [
      'a body that is too large',
      () => post(SUBSCRIPTIONS, `Content-Length: 70000\r\n\r\n${' '.repeat(70_000)}`),
    ],
    [
      'chunks that are too large',
      () =>
        post(SUBSCRIPTIONS, `Transfer-Encoding: chunked\r\n\r\n11170\r\n${' '.repeat(70_000)}\r\n0\r\n\r\n`),
    ],
  ])('goes on after %s', async (_what, bytes) => {
    expect((await statuses(`${bytes()}${last()}`))?.slice(1)).toEqual([200]);
  });

  it('sends the responses to earlier requests before an error', async () => {
    expect(await statuses(`${get()}${get()}no HTTP\r\n\r\n`)).toEqual([200, 200, 400]);
    expect(await statuses(`${get()}${post(SUBSCRIPTIONS, 'Content-Length: 9\r\n\r\n{')}`)).toEqual([
      200, 408,
    ]);
    const connect = 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n';
    expect(await statuses(`${get()}${connect}`)).toEqual([200, 404]);
    const unknown = 'FOO /v1/refund-cases HTTP/1.1\r\nHost: a\r\n\r\n';
    expect(await statuses(`${get()}${unknown}`)).toEqual([200, 405]);
  });

  it('responds to a request once, whatever data follows it', async () => {
    expect(await statuses(`${last()}${get()}no HTTP\r\n\r\n`)).toEqual([200]);
    expect(await statuses(post('/nope', 'Transfer-Encoding: chunked\r\n\r\nno chunk\r\n'))).toEqual([404]);
    expect(await statuses(post('/nope', 'Content-Length: 9\r\n\r\n{'))).toEqual([404]);
  });

  it('does not send 100 Continue in the middle of a response', async () => {
    const expecting = post(SUBSCRIPTIONS, 'Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}');
    expect(await statuses(`${expecting}${last()}`)).toEqual([100, 400, 200]);
    const received = await exchange(live, `${get()}${expecting}`);
    expect(received.match(/HTTP\/1\.1 \d+|\r\n\r\n.{8}/g)).toEqual([
      'HTTP/1.1 200',
      '\r\n\r\n{"data":',
      'HTTP/1.1 400',
      '\r\n\r\n{"type":',
    ]);
  });

  it('sends no 100 Continue for a body that the head alone rejects', async () => {
    const expecting = 'Expect: 100-continue\r\nContent-Length:';
    expect(await statuses(post(SUBSCRIPTIONS, `${expecting} 70000\r\n\r\n`))).toEqual([413]);
    expect(await statuses(post('/nope', `${expecting} 2\r\n\r\n`))).toEqual([404]);
    const anonymous = `POST ${SUBSCRIPTIONS} HTTP/1.1\r\nHost: a\r\n${expecting} 2\r\n\r\n`;
    expect(await statuses(anonymous)).toEqual([401]);
  });

  it('is closed silently if nothing was requested', async () => {
    expect(await exchange(live, '')).toBe('');
  });
});

describe('a client that disconnects does not affect others', () => {
  it.each([
    ['CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
    ['no HTTP\r\n\r\n'],
    ['GET /nope HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('after %j', async (bytes) => {
    const reset = () =>
      new Promise<void>((resolve) => {
        const socket = connect(live, '127.0.0.1', () => socket.write(bytes, () => socket.resetAndDestroy()));
        socket.on('error', () => undefined);
        socket.on('close', () => resolve());
      });
    await Promise.all(Array.from({ length: 20 }, reset));
    expect((await call(live, '/v1/refund-cases', { key })).status).toBe(200);
  });
});

it('a client that sends its whole large body first gets the response', async () => {
  const size = 20_000_000;
  const head = `POST ${SUBSCRIPTIONS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`;
  const type = `Content-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`;
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(live, '127.0.0.1');
    socket.pause().on('error', reject);
    socket.write(`${head}${type}${' '.repeat(size)}`, () => {
      socket.resume().once('data', (chunk) => {
        resolve(chunk.toString());
        socket.destroy();
      });
    });
  });
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});

it('idle connections stay open for longer than those of load balancers', async () => {
  const { headers } = await call(live, '/v1/refund-cases', { key });
  expect(headers['keep-alive']).toBe('timeout=620');
});
