import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { PROBLEM_TYPES, type ProblemCode } from '../../gateway/problems/problem-types.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { type Answer, call, exchange, expectProblem } from './http-call.ts';

const CONNECTIONS_AT_ONCE = 25;

const gateways = await startGateways({
  RATE_LIMIT_LIVE: '100000',
  RATE_LIMIT_ADDRESS: '100000',
  HTTP_REQUEST_TIMEOUT: '200ms',
});
const live = gateways.ports.live;
const key = (await newMerchant(gateways)).keys.live;
afterAll(() => gateways.close());

/** Stands for the key, which is not known yet. */
const KEY = '<key>';
const CREATION = '{"url":"https://shop.example","eventTypes":["refund.requested.v1"]}';
const junk = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text).toString('latin1'));
const hostile = (...texts: string[]) => fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...texts) }, junk);

// No HEAD, because a reader that does not know the method cannot tell where its response ends.
const method = hostile('PUT', 'OPTIONS', 'PROPFIND', 'CONNECT', 'get', 'FOO', '');
const target = hostile(
  ...[
    '/v1/refund-cases?limit=1',
    '/v1/refund-cases?limit=%zz',
    '/v1/refund-cases?after=%00',
    '/v1/products/42',
  ],
  ...[
    '/v1/products/%ff',
    '/v1/products/%2e%2e%2f',
    '/v1/funds/releases?from=2026-02-30',
    '/v1/refund-cases/',
  ],
  ...[
    '/v1/webhook-subscriptions//disable',
    '*',
    '//',
    '/../..',
    'http://a/v1/refund-cases',
    'a:443',
    '/%',
    '/#',
  ],
  ...[`/${'a'.repeat(9_000)}`, `/${'a'.repeat(20_000)}`, '?', ''],
);
const version = hostile('HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'http/1.1', '');
const header = hostile(
  ...['Host: b', 'Host: a b', 'Authorization: Basic a', 'Connection: close', 'Connection: authorization'],
  ...[
    'Content-Length: 2',
    'Content-Length: 70000',
    'Content-Length: 500',
    'Content-Length: -1',
    'Content-Length: 2, 2',
  ],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip', 'Transfer-Encoding : chunked'],
  ...[
    'Content-Type: application/json',
    'Content-Type: a',
    'Content-Encoding: gzip',
    'Content-Encoding: br',
    'Idempotency-Key: "',
  ],
  ...['Expect: 100-continue', 'Expect: a', 'Upgrade: h2c', ' folded', ': a', 'a', 'X: a\rY: b', 'X: \0'],
  `Cookie: ${'a'.repeat(20_000)}`,
);
const body = hostile(
  ...['{}', '[', 'null', '{"url":1}', '{"__proto__":1}', '{"url":1,"url":1}', '\xef\xbb\xbf{}', '\xff\xfe'],
  ...[' '.repeat(70_000), '['.repeat(65_000), CREATION],
);
/** What follows the headers as it is, whatever length they announce. */
const rest = hostile(
  '2\r\n{}\r\n0\r\n\r\n',
  'zz\r\n',
  '2\r\n{}',
  '0\r\nX: y\r\n\r\n',
  `1;${'a'.repeat(20_000)}\r\n`,
);

const GOOD = [
  { method: 'GET', target: '/v1/refund-cases', headers: [], body: '' },
  {
    method: 'POST',
    target: '/v1/webhook-subscriptions',
    body: CREATION,
    headers: ['Content-Type: application/json', 'Idempotency-Key: k'],
  },
  {
    method: 'POST',
    target: '/v1/webhook-subscriptions/019a3f4e-8b1c-7d2e-9f3a-5b6c7d8e9f0a/disable',
    headers: [],
    body: '',
  },
];

const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const request = fc
  .record({
    good: fc.constantFrom(...GOOD),

    key: fc.constantFrom(KEY, KEY, KEY, 'unknown'),
    headers: fc.array(rarely(header), { maxLength: 2 }),
    method: rarely(method),
    target: rarely(target),
    version: rarely(version),
    body: rarely(body),
    rest: rarely(rest),
  })
  .map(({ good, headers, rest = '', version = 'HTTP/1.1', ...other }) => {
    const content = other.body ?? good.body;
    const lines = [
      `${other.method ?? good.method} ${other.target ?? good.target} ${version}`,
      'Host: a',
      `Authorization: Bearer ${other.key}`,
      ...good.headers,
      ...(content === '' ? [] : [`Content-Length: ${content.length}`]),
      ...headers.filter((line) => line !== undefined),
    ];
    return `${lines.join('\r\n')}\r\n\r\n${content}${rest}`;
  });

/** What ends a connection: a request that says so, or one that never ends. */
const ending = fc.oneof(
  { weight: 49, arbitrary: fc.constant('GET /nope HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n') },
  { weight: 1, arbitrary: fc.constant('GET /nope HTTP/1.1\r\nHost: a\r\n') },
);

const connection = fc
  .record({ requests: fc.array(fc.oneof({ weight: 9, arbitrary: request }, junk), { maxLength: 3 }), ending })
  .map(({ requests, ending }) => `${requests.join('')}${ending}`);

/** Where the server closes without reading everything, the reset may discard answers: then there is nothing to check. */
async function exchangeUntilReset(bytes: Buffer): Promise<string> {
  return exchange(live, bytes).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return '';
    throw error;
  });
}

/** The answers on a connection, in order. */
function answersIn(received: string): Answer[] {
  const bytes = Buffer.from(received);
  const answers: Answer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', at);
    const [statusLine = '', ...lines] = bytes.toString('utf8', at, end).split('\r\n');
    expect(statusLine).toMatch(/^HTTP\/1\.1 \d{3} /);
    const status = Number(statusLine.slice(9, 12));
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const [, name, value] = /^([\w-]+): (.*)$/.exec(line)!;
      expect(headers).not.toHaveProperty(name!.toLowerCase());
      headers[name!.toLowerCase()] = value!;
    }
    at = end + 4 + Number(headers['content-length'] ?? 0);
    const text = bytes.toString('utf8', end + 4, at);
    if (status !== 100) answers.push({ status, headers, text, json: JSON.parse(text) });
  }
  return answers;
}

function expectGoodAnswer(answer: Answer): void {
  if (answer.status < 400) return;
  const code = answer.json.code as ProblemCode;
  expect(Object.keys(PROBLEM_TYPES)).toContain(code);
  expectProblem(answer, code);
  expect(answer.status).toBeLessThan(500);
  expect(answer.headers['www-authenticate']).toBe(answer.status === 401 ? 'Bearer' : undefined);
  expect(answer.headers.allow === undefined).toBe(answer.status !== 405);
}

it('any bytes get a success or an error of the table, and the connection ends', async () => {
  const seen = new Set<number>();
  const connections = fc.array(connection, {
    minLength: CONNECTIONS_AT_ONCE,
    maxLength: CONNECTIONS_AT_ONCE,
  });
  await fc.assert(
    fc.asyncProperty(connections, async (sent) => {
      const received = await Promise.all(
        sent.map((bytes) => exchangeUntilReset(Buffer.from(bytes.replaceAll(KEY, key), 'latin1'))),
      );
      for (const answer of received.flatMap(answersIn)) {
        expectGoodAnswer(answer);
        seen.add(answer.status);
      }
    }),
    { numRuns: 20, endOnFailure: true },
  );
  // Otherwise no bytes would have passed the HTTP parser.
  expect([...seen]).toEqual(expect.arrayContaining([200, 400, 401, 404, 405]));
  expect((await call(live, '/v1/refund-cases', { key })).status).toBe(200);
});
