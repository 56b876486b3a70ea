import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import type { Client } from 'pg';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PROBLEM_TYPES, type ProblemCode } from '../../gateway/problems/problem-types.ts';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { newKey } from '../support/harness.ts';
import { openSession } from '../support/sql.ts';
import { startGatewayApart } from './gateway-apart.ts';
import { ALL_SCOPES, type GatewayHarness, newMerchant, startGateways } from './gateway-harness.ts';
import { type Answer, type Call, call, expectProblem, sendRaw } from './http-call.ts';
import { seedMerchant } from './seed-merchant.ts';

/** A request that really causes an error, and its detail: the whole of it, or a pattern. */
type Provocation = readonly [
  what: string,
  detail: string | RegExp,
  ask: () => Promise<Answer>,
  /** Default: that of a request on the socket. */
  instance?: string,
];

const CASES = '/v1/refund-cases';
const SUBSCRIPTIONS = '/v1/webhook-subscriptions';
const product = `/v1/products/${randomUUID()}`;
const disable = `${SUBSCRIPTIONS}/${randomUUID()}/disable`;

const gateways = await startGateways({
  RATE_LIMIT_LIVE: '100000',
  RATE_LIMIT_ADDRESS: '100000',
  HTTP_REQUEST_TIMEOUT: '1s',
  WEBHOOK_SUBSCRIPTION_LIMIT: '2',
});
const { live } = gateways.ports;
const { merchantId, keys } = await newMerchant(gateways);
const key = keys.live;
const documentation = (await call(live, '/docs/errors')).text;
afterAll(() => gateways.close());

const get = (path: string, options: Call = {}) => call(live, path, { key, ...options });
const raw = (head: string, rest = '') =>
  sendRaw(live, `${head}\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n${rest}`);
const creation = (path = '') => ({
  url: `https://shop.example/${path}`,
  eventTypes: ['refund.requested.v1'],
});
const create = (body: unknown, headers: Call['headers'] = {}, options: Call = {}, port = live) =>
  call(port, SUBSCRIPTIONS, {
    key,
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'idempotency-key': newKey(), ...headers },
    ...options,
  });

/** Shares work between several provocations. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work();
    return result;
  };
}

/** A connection to the database of the gateways, closed with the test. */
async function connectToDatabase(): Promise<Client> {
  const client = await openSession(gateways.harness.databaseUrl);
  onTestFinished(() => client.end());
  return client;
}

/** Runs the work while another transaction holds these locks. */
async function whileLocked<T>(locks: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connectToDatabase();
  await client.query(`begin; ${locks}`);
  try {
    return await work(client);
  } finally {
    await client.query('rollback');
  }
}

async function expiredKey(): Promise<string> {
  const expiresAt = timestampFromMs(Date.now() + 1_000);
  const issued = await createClient(ApiKeyService, gateways.harness.transports.inProcess).issueApiKey({
    merchantId,
    environment: Environment.LIVE,
    idempotencyKey: newKey(),
    name: 'short',
    scopes: [...ALL_SCOPES],
    expiresAt,
  });
  await vi.waitFor(async () => expect((await get(CASES, { key: issued.key })).status).toBe(401), {
    timeout: 40_000,
    interval: 100,
  });
  return issued.key;
}

async function cursorOfCases(): Promise<string> {
  const seed = seedMerchant(gateways.harness.transports.inProcess, merchantId, Environment.LIVE);
  await Promise.all([seed.refundCase(), seed.refundCase()]);
  return (await get(`${CASES}?limit=1`)).json.nextCursor;
}

/** Sends concurrent requests beyond a limit of one per second. @returns a refusal. */
async function exceedRateLimit(
  prepare: (strict: GatewayHarness) => Promise<() => Promise<Answer>>,
): Promise<Answer> {
  const strict = await startGateways({ RATE_LIMIT_LIVE: '1', RATE_LIMIT_ADDRESS: '1' });
  onTestFinished(() => strict.close());
  const ask = await prepare(strict);
  const answers = await Promise.all(Array.from({ length: 20 }, ask));
  return answers.find(({ status }) => status === 429)!;
}

/** Responses after PostgreSQL has stopped, and then after the services are killed too. */
const withoutPostgres = once(async () => {
  const { port, key: known, stopPostgres, killServices } = await startGatewayApart();
  await stopPostgres();
  const [read, write, unknownKey] = await Promise.all([
    call(port, product, { key: known }),
    create(creation(), {}, { key: known }, port),
    call(port, product, { key: newApiKey('live') }),
  ]);
  await killServices();
  return { read, write, unknownKey, withoutServices: await call(port, product, { key: known }) };
});

/** Responses while PostgreSQL blocks a write and a read for longer than clients wait. */
const late = once(() => {
  const locks = 'lock table webhooks.subscription, catalog.product in access exclusive mode';
  const write = () => create(creation('late'), { 'idempotency-key': 'late' });
  return whileLocked(locks, () => Promise.all([write(), get(product)]));
});

async function whileRenamed(): Promise<Answer> {
  const client = await connectToDatabase();
  await client.query('alter table catalog.product rename to lost');
  try {
    return await get(product);
  } finally {
    await client.query('alter table catalog.lost rename to product');
  }
}

async function whileRunning(): Promise<Answer> {
  const first = { 'idempotency-key': 'twice at once' };
  const body = creation('twice');
  return whileLocked('lock table webhooks.subscription in share mode', async (client) => {
    const running = create(body, first);
    const waiting = async () =>
      (await client.query(`select from pg_locks where not granted and relation is not null`)).rowCount;
    await expect.poll(waiting).toBe(1);
    const answer = await create(body, first);
    await client.query('rollback');
    expect((await running).status).toBe(201);
    return answer;
  });
}

/** A merchant with one subscription less than the limit. */
async function subscribed(): Promise<string> {
  const { keys } = await newMerchant(gateways);
  expect((await create(creation('kept'), {}, { key: keys.live })).status).toBe(201);
  return keys.live;
}

const OTHER_CURSOR = "Query parameter 'after' must be a nextCursor of this list with the same filters.";
const ON_YOUR_MACHINE = 'To receive sandbox webhooks on your own machine, run npx merchant-payments listen.';
const TOO_LARGE = 'The body must be at most 64 KiB.';
const LATE_REQUEST = 'The request must arrive completely within 1 s.';
const TOO_LONG = 'The request target must be at most 8000 characters.';
const UNAVAILABLE = 'The service is temporarily unavailable; try again.';
const TOO_SLOW = 'The request took too long; try again.';
const NO_ROUTE = 'There is no operation at this path.';
const NO_SUBSCRIPTION = 'There is no webhook subscription with this id.';
const LIMITED_SUBSCRIPTIONS =
  'A merchant may have 2 webhook subscriptions per environment that are not disabled; disable one first.';

const post = `POST ${SUBSCRIPTIONS} HTTP/1.1`;
const JSON_TYPE = 'Content-Type: application/json\r\n';

const readWithScope = async (scope: ApiKeyScope) =>
  get(CASES, { key: (await gateways.issueKey(merchantId, Environment.LIVE, [scope])).key });

async function createBeyondLimit(): Promise<Answer> {
  const own = { key: await subscribed() };
  expect((await create(creation('second'), {}, own)).status).toBe(201);
  return create(creation('third'), {}, own);
}

async function reuseKey(): Promise<Answer> {
  const own = { key: (await newMerchant(gateways)).keys.live };
  expect((await create(creation('one'), { 'idempotency-key': 'k' }, own)).status).toBe(201);
  return create(creation('another'), { 'idempotency-key': 'k' }, own);
}

const PROVOKED = {
  INVALID_REQUEST: [
    [
      'a parameter out of bounds',
      "Query parameter 'limit' must be an integer from 1 to 100.",
      () => get(`${CASES}?limit=101`),
    ],
    [
      'a path parameter that is not a UUID',
      "Path parameter 'id' must be a UUID.",
      () => get('/v1/products/42'),
      '/v1/products/42',
    ],
    ['a member that is missing', '/eventTypes is required.', () => create({ url: 'https://shop.example' })],
    ['malformed JSON', 'The body must be well-formed JSON.', () => create('{')],
    ['invalid UTF-8', 'The body must be UTF-8.', () => create(Buffer.from([0x22, 0xff, 0x22]))],
    ['an unexpected body', 'This operation takes no body.', () => get(disable, { body: {} }), disable],
    ['NUL', "Query parameter 'after' must not contain NUL.", () => get(`${CASES}?after=%00`)],
    [
      'a broken percent-encoding of a parameter',
      "Query parameter 'after' must be percent-encoded UTF-8.",
      () => get(`${CASES}?after=%zz`),
    ],
    [
      'a broken percent-encoding of the path',
      'The path must be percent-encoded UTF-8.',
      () => get('/v1/products/%zz'),
      '/v1/products/%zz',
    ],
    [
      'something that is not HTTP',
      'The request must be well-formed HTTP/1.1.',
      () => sendRaw(live, '\u0016\u0003\u0001\0'),
      '/',
    ],
  ],
  INVALID_CURSOR: [
    [
      'a cursor of other filters',
      OTHER_CURSOR,
      async () => get(`${CASES}?status=SUCCEEDED&after=${await cursorOfCases()}`),
    ],
    [
      'a cursor of another list',
      OTHER_CURSOR,
      async () => get(`${SUBSCRIPTIONS}?after=${await cursorOfCases()}`),
    ],
  ],
  INVALID_WEBHOOK_URL: [
    [
      'no https',
      `/url must use https. ${ON_YOUR_MACHINE}`,
      () => create({ ...creation(), url: 'http://shop.example' }),
    ],
    [
      'a private address',
      `/url must have a host on the public internet. ${ON_YOUR_MACHINE}`,
      () => create({ ...creation(), url: 'https://169.254.169.254/' }),
    ],
  ],
  INVALID_EVENT_TYPE: [
    [
      'a name that is not in the catalog',
      '/eventTypes/1: "refund.requested.v9" is not an event type; /docs lists them under Events.',
      () => create({ ...creation(), eventTypes: ['refund.requested.v1', 'refund.requested.v9'] }),
    ],
  ],
  IDEMPOTENCY_KEY_MISSING: [
    [
      'a creation without an idempotency key',
      'Send an Idempotency-Key header: 1 to 255 printable ASCII characters.',
      () => create(creation(), { 'idempotency-key': '' }),
    ],
  ],
  API_KEY_MISSING: [
    ['no header', 'Send the API key as Authorization: Bearer <API key>.', () => call(live, CASES)],
  ],
  API_KEY_INVALID: [
    ['an unknown key', 'The API key is not valid.', () => get(CASES, { key: newApiKey('live') })],
  ],
  API_KEY_EXPIRED: [
    [
      'a key that has expired',
      'The API key has expired.',
      async () => get(CASES, { key: await expiredKey() }),
    ],
  ],
  API_KEY_ENVIRONMENT_MISMATCH: [
    [
      'a test key on the live host',
      'This is a test key; use it on the sandbox host.',
      async () => get(CASES, { key: (await newMerchant(gateways)).keys.test }),
    ],
  ],
  INSUFFICIENT_SCOPE: [
    [
      'a key without the scope',
      'This operation requires an API key with the scope refunds:read.',
      () => readWithScope(ApiKeyScope.CATALOG_READ),
    ],
  ],
  PRODUCT_NOT_FOUND: [['an unknown ID', 'There is no product with this id.', () => get(product), product]],
  WEBHOOK_SUBSCRIPTION_NOT_FOUND: [
    ['an unknown ID', NO_SUBSCRIPTION, () => get(disable, { method: 'POST' }), disable],
  ],
  ROUTE_NOT_FOUND: [
    ['an unknown path, without key', NO_ROUTE, () => call(live, '/v1/nothing?a=b'), '/v1/nothing'],
    ['a trailing slash', NO_ROUTE, () => get(`${CASES}/`), `${CASES}/`],
  ],
  METHOD_NOT_ALLOWED: [
    [
      'a method that is not allowed',
      'The method DELETE is not allowed here; allowed: GET, HEAD.',
      () => get(CASES, { method: 'DELETE' }),
    ],
    [
      'OPTIONS, as browsers ask',
      'The method OPTIONS is not allowed here; allowed: GET, HEAD, POST.',
      () => call(live, SUBSCRIPTIONS, { method: 'OPTIONS', headers: { origin: 'https://shop.example' } }),
    ],
  ],
  REQUEST_TIMEOUT: [
    ['headers that do not end', LATE_REQUEST, () => raw(`GET ${CASES} HTTP/1.1`), '/'],
    [
      'a body that does not end',
      LATE_REQUEST,
      () => raw(post, `${JSON_TYPE}Content-Length: 9\r\n\r\n{`),
      SUBSCRIPTIONS,
    ],
  ],
  WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS: [
    [
      'a URL that already has a subscription',
      'A webhook subscription for this /url already exists.',
      async () => create(creation('kept'), {}, { key: await subscribed() }),
    ],
  ],
  WEBHOOK_SUBSCRIPTION_LIMIT_REACHED: [['one more than the limit', LIMITED_SUBSCRIPTIONS, createBeyondLimit]],
  IDEMPOTENCY_KEY_IN_USE: [
    [
      'a request whose first is still running',
      'A request with this Idempotency-Key is still running.',
      whileRunning,
    ],
  ],
  PAYLOAD_TOO_LARGE: [
    ['a length of 64 KiB and a byte', TOO_LARGE, () => create(' '.repeat(65_537))],
    [
      'chunks of 64 KiB and a byte',
      TOO_LARGE,
      () =>
        raw(
          post,
          `${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n10001\r\n${' '.repeat(65_537)}\r\n0\r\n\r\n`,
        ),
    ],
  ],
  URI_TOO_LONG: [
    ['a target of 8001 characters', TOO_LONG, () => get(`/${'a'.repeat(8_000)}`), `/${'a'.repeat(499)}`],
    [
      'a target that is not read to its end',
      TOO_LONG,
      () => raw(`GET /${'a'.repeat(17_000)} HTTP/1.1`, '\r\n'),
      '/',
    ],
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    [
      'a form',
      'Header Content-Type must be application/json, in UTF-8.',
      () => create('url=a', { 'content-type': 'application/x-www-form-urlencoded' }),
    ],
    [
      'a compressed body',
      'The body must be sent without Content-Encoding.',
      () => create(creation(), { 'content-encoding': 'gzip' }),
    ],
    [
      'an invalid Content-Type',
      'Header Content-Type must be a media type.',
      () => get(disable, { method: 'POST', body: 'x', headers: { 'content-type': ';' } }),
      disable,
    ],
  ],
  IDEMPOTENCY_KEY_REUSED: [
    ['the key of another body', 'This Idempotency-Key was used with a different body.', reuseKey],
  ],
  RATE_LIMITED: [
    [
      'too many requests with a key',
      /^More than 1 requests? in a second with this key; wait /,
      () =>
        exceedRateLimit(async (strict) => {
          const { keys } = await newMerchant(strict);
          return () => call(strict.ports.live, CASES, { key: keys.live });
        }),
    ],
    [
      'too many requests without one',
      /^More than 1 requests? in a second without a valid key; wait /,
      () => exceedRateLimit(async (strict) => () => call(strict.ports.live, CASES)),
    ],
  ],
  HEADERS_TOO_LARGE: [
    [
      'headers of more than 16 KiB',
      'Request line and headers together must be at most 16 KiB.',
      () => raw(`GET ${CASES} HTTP/1.1`, `Cookie: ${'a'.repeat(17_000)}\r\n\r\n`),
      '/',
    ],
  ],
  INTERNAL_ERROR: [
    [
      'a table that is gone',
      'Something failed on our side; quote the requestId to support.',
      whileRenamed,
      product,
    ],
  ],
  SERVICE_UNAVAILABLE: [
    ['PostgreSQL stopped, for a read', UNAVAILABLE, async () => (await withoutPostgres()).read, product],
    [
      'PostgreSQL stopped, for a write',
      UNAVAILABLE,
      async () => (await withoutPostgres()).write,
      SUBSCRIPTIONS,
    ],
    [
      'PostgreSQL stopped, for the lookup of a key',
      UNAVAILABLE,
      async () => (await withoutPostgres()).unknownKey,
      product,
    ],
    ['the services killed', UNAVAILABLE, async () => (await withoutPostgres()).withoutServices, product],
  ],
  DEADLINE_EXCEEDED: [
    ['a write that waits for a lock', TOO_SLOW, async () => (await late())[0], SUBSCRIPTIONS],
    ['a read that waits for a lock', TOO_SLOW, async () => (await late())[1], product],
  ],
} satisfies Record<ProblemCode, readonly [Provocation, ...Provocation[]]>;

const HEADERS_OF_ALL = [
  'cache-control',
  'content-security-policy',
  'content-type',
  'referrer-policy',
  'request-id',
  'strict-transport-security',
  'x-content-type-options',
];

const CONNECTION_HEADERS = /^(connection|content-length|date|keep-alive|ratelimit.*)$/;

/** The additional headers of an error with this status. */
const HEADERS_OF_STATUS: Readonly<Record<number, Readonly<Record<string, RegExp>>>> = {
  401: { 'www-authenticate': /^Bearer$/ },
  405: { allow: /^(GET, HEAD|GET, HEAD, POST|POST)$/ },
  429: { 'retry-after': /^[1-9]\d*$/ },
  503: { 'retry-after': /^[1-5]$/ },
};

function expectDocumentedAnswer(
  answer: Answer,
  code: ProblemCode,
  [, detail, , instance]: Provocation,
): void {
  expectProblem(answer, code);
  if (typeof detail === 'string') expect(answer.json.detail).toBe(detail);
  else expect(answer.json.detail).toMatch(detail);
  if (instance !== undefined) expect(answer.json.instance).toBe(instance);
  const { status } = PROBLEM_TYPES[code];
  const own = HEADERS_OF_STATUS[status] ?? {};
  const given = Object.keys(answer.headers).filter((name) => !CONNECTION_HEADERS.test(name));
  expect(given.sort()).toEqual([...HEADERS_OF_ALL, ...Object.keys(own)].sort());
  for (const [name, value] of Object.entries(own)) expect(answer.headers[name]).toMatch(value);
  expect(answer.headers['content-length']).toBe(`${Buffer.byteLength(answer.text)}`);
  const { pathname, hash } = new URL(answer.json.type);
  expect(pathname).toBe('/docs/errors');
  expect(documentation).toContain(`id="${hash.slice(1)}"`);
}

describe.each(Object.entries(PROVOKED) as [ProblemCode, readonly Provocation[]][])('%s', (code, provoked) => {
  for (const provocation of provoked) {
    const [what, , ask] = provocation;
    it(`returns ${what}`, { timeout: 60_000 }, async () => {
      expectDocumentedAnswer(await ask(), code, provocation);
      expect((await get(CASES)).status).toBe(200);
    });
  }
});

it('a write whose deadline has passed has no effect', async () => {
  expect((await late())[0].status).toBe(504);
  const again = () => create(creation('late'), { 'idempotency-key': 'late' });
  let answer = await again();
  // The abandoned write holds its key until PostgreSQL grants it the lock.
  while (answer.status === 409) answer = await again();
  expect(answer.status).toBe(201);
  expect(answer.headers['idempotency-replayed']).toBeUndefined();
});
