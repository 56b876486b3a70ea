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

/** A request that really causes an error. */
interface Provocation {
  readonly what: string;
  readonly ask: () => Promise<Answer>;
  /** The whole detail, or a pattern. */
  readonly detail: string | RegExp;
  /** Default: that of a request on the socket. */
  readonly instance?: string;
}

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

const PROVOKED = {
  INVALID_REQUEST: [
    {
      what: 'a parameter out of bounds',
      ask: () => get(`${CASES}?limit=101`),
      detail: "Query parameter 'limit' must be an integer from 1 to 100.",
    },
    {
      what: 'a path parameter that is not a UUID',
      ask: () => get('/v1/products/42'),
      detail: "Path parameter 'id' must be a UUID.",
      instance: '/v1/products/42',
    },
    {
      what: 'a member that is missing',
      ask: () => create({ url: 'https://shop.example' }),
      detail: '/eventTypes is required.',
    },
    {
      what: 'malformed JSON',
      ask: () => create('{'),
      detail: 'The body must be well-formed JSON.',
    },
    {
      what: 'invalid UTF-8',
      ask: () => create(Buffer.from([0x22, 0xff, 0x22])),
      detail: 'The body must be UTF-8.',
    },
    {
      what: 'an unexpected body',
      ask: () => get(disable, { body: {} }),
      detail: 'This operation takes no body.',
      instance: disable,
    },
    {
      what: 'NUL',
      ask: () => get(`${CASES}?after=%00`),
      detail: "Query parameter 'after' must not contain NUL.",
    },
    {
      what: 'a broken percent-encoding of a parameter',
      ask: () => get(`${CASES}?after=%zz`),
      detail: "Query parameter 'after' must be percent-encoded UTF-8.",
    },
    {
      what: 'a broken percent-encoding of the path',
      ask: () => get('/v1/products/%zz'),
      detail: 'The path must be percent-encoded UTF-8.',
      instance: '/v1/products/%zz',
    },
    {
      what: 'something that is not HTTP',
      ask: () => sendRaw(live, '\u0016\u0003\u0001\0'),
      detail: 'The request must be well-formed HTTP/1.1.',
      instance: '/',
    },
  ],
  INVALID_CURSOR: [
    {
      what: 'a cursor of other filters',
      ask: async () => get(`${CASES}?status=SUCCEEDED&after=${await cursorOfCases()}`),
      detail: "Query parameter 'after' must be a nextCursor of this list with the same filters.",
    },
    {
      what: 'a cursor of another list',
      ask: async () => get(`${SUBSCRIPTIONS}?after=${await cursorOfCases()}`),
      detail: "Query parameter 'after' must be a nextCursor of this list with the same filters.",
    },
  ],
  INVALID_WEBHOOK_URL: [
    {
      what: 'no https',
      ask: () => create({ ...creation(), url: 'http://shop.example' }),
      detail:
        '/url must use https. To receive sandbox webhooks on your own machine, run npx merchant-payments listen.',
    },
    {
      what: 'a private address',
      ask: () => create({ ...creation(), url: 'https://169.254.169.254/' }),
      detail:
        '/url must have a host on the public internet. To receive sandbox webhooks on your own machine, run npx merchant-payments listen.',
    },
  ],
  INVALID_EVENT_TYPE: [
    {
      what: 'a name that is not in the catalog',
      ask: () => create({ ...creation(), eventTypes: ['refund.requested.v1', 'refund.requested.v9'] }),
      detail: '/eventTypes/1: "refund.requested.v9" is not an event type; /docs lists them under Events.',
    },
  ],
  IDEMPOTENCY_KEY_MISSING: [
    {
      what: 'a creation without an idempotency key',
      ask: () => create(creation(), { 'idempotency-key': '' }),
      detail: 'Send an Idempotency-Key header: 1 to 255 printable ASCII characters.',
    },
  ],
  API_KEY_MISSING: [
    {
      what: 'no header',
      ask: () => call(live, CASES),
      detail: 'Send the API key as Authorization: Bearer <API key>.',
    },
  ],
  API_KEY_INVALID: [
    {
      what: 'an unknown key',
      ask: () => get(CASES, { key: newApiKey('live') }),
      detail: 'The API key is not valid.',
    },
  ],
  API_KEY_EXPIRED: [
    {
      what: 'a key that has expired',
      ask: async () => get(CASES, { key: await expiredKey() }),
      detail: 'The API key has expired.',
    },
  ],
  API_KEY_ENVIRONMENT_MISMATCH: [
    {
      what: 'a test key on the live host',
      ask: async () => get(CASES, { key: (await newMerchant(gateways)).keys.test }),
      detail: 'This is a test key; use it on the sandbox host.',
    },
  ],
  INSUFFICIENT_SCOPE: [
    {
      what: 'a key without the scope',
      ask: async () =>
        get(CASES, {
          key: (await gateways.issueKey(merchantId, Environment.LIVE, [ApiKeyScope.CATALOG_READ])).key,
        }),
      detail: 'This operation requires an API key with the scope refunds:read.',
    },
  ],
  PRODUCT_NOT_FOUND: [
    {
      what: 'an unknown ID',
      ask: () => get(product),
      detail: 'There is no product with this id.',
      instance: product,
    },
  ],
  WEBHOOK_SUBSCRIPTION_NOT_FOUND: [
    {
      what: 'an unknown ID',
      ask: () => get(disable, { method: 'POST' }),
      detail: 'There is no webhook subscription with this id.',
      instance: disable,
    },
  ],
  ROUTE_NOT_FOUND: [
    {
      what: 'an unknown path, without key',
      ask: () => call(live, '/v1/nothing?a=b'),
      detail: 'There is no operation at this path.',
      instance: '/v1/nothing',
    },
    {
      what: 'a trailing slash',
      ask: () => get(`${CASES}/`),
      detail: 'There is no operation at this path.',
      instance: `${CASES}/`,
    },
  ],
  METHOD_NOT_ALLOWED: [
    {
      what: 'a method that is not allowed',
      ask: () => get(CASES, { method: 'DELETE' }),
      detail: 'The method DELETE is not allowed here; allowed: GET, HEAD.',
    },
    {
      what: 'OPTIONS, as browsers ask',
      ask: () =>
        call(live, SUBSCRIPTIONS, { method: 'OPTIONS', headers: { origin: 'https://shop.example' } }),
      detail: 'The method OPTIONS is not allowed here; allowed: GET, HEAD, POST.',
    },
  ],
  REQUEST_TIMEOUT: [
    {
      what: 'headers that do not end',
      ask: () => raw(`GET ${CASES} HTTP/1.1`),
      detail: 'The request must arrive completely within 1 s.',
      instance: '/',
    },
    {
      what: 'a body that does not end',
      ask: () =>
        raw(`POST ${SUBSCRIPTIONS} HTTP/1.1`, 'Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{'),
      detail: 'The request must arrive completely within 1 s.',
      instance: SUBSCRIPTIONS,
    },
  ],
  WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS: [
    {
      what: 'a URL that already has a subscription',
      ask: async () => create(creation('kept'), {}, { key: await subscribed() }),
      detail: 'A webhook subscription for this /url already exists.',
    },
  ],
  WEBHOOK_SUBSCRIPTION_LIMIT_REACHED: [
    {
      what: 'one more than the limit',
      ask: async () => {
        const own = await subscribed();
        expect((await create(creation('second'), {}, { key: own })).status).toBe(201);
        return create(creation('third'), {}, { key: own });
      },
      detail:
        'A merchant may have 2 webhook subscriptions per environment that are not disabled; disable one first.',
    },
  ],
  IDEMPOTENCY_KEY_IN_USE: [
    {
      what: 'a request whose first is still running',
      ask: whileRunning,
      detail: 'A request with this Idempotency-Key is still running.',
    },
  ],
  PAYLOAD_TOO_LARGE: [
    {
      what: 'a length of 64 KiB and a byte',
      ask: () => create(' '.repeat(65_537)),
      detail: 'The body must be at most 64 KiB.',
    },
    {
      what: 'chunks of 64 KiB and a byte',
      ask: () =>
        raw(
          `POST ${SUBSCRIPTIONS} HTTP/1.1`,
          `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n10001\r\n${' '.repeat(65_537)}\r\n0\r\n\r\n`,
        ),
      detail: 'The body must be at most 64 KiB.',
    },
  ],
  URI_TOO_LONG: [
    {
      what: 'a target of 8001 characters',
      ask: () => get(`/${'a'.repeat(8_000)}`),
      detail: 'The request target must be at most 8000 characters.',
      instance: `/${'a'.repeat(499)}`,
    },
    {
      what: 'a target that is not read to its end',
      ask: () => raw(`GET /${'a'.repeat(17_000)} HTTP/1.1`, '\r\n'),
      detail: 'The request target must be at most 8000 characters.',
      instance: '/',
    },
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    {
      what: 'a form',
      ask: () => create('url=a', { 'content-type': 'application/x-www-form-urlencoded' }),
      detail: 'Header Content-Type must be application/json, in UTF-8.',
    },
    {
      what: 'a compressed body',
      ask: () => create(creation(), { 'content-encoding': 'gzip' }),
      detail: 'The body must be sent without Content-Encoding.',
    },
    {
      what: 'an invalid Content-Type',
      ask: () => get(disable, { method: 'POST', body: 'x', headers: { 'content-type': ';' } }),
      detail: 'Header Content-Type must be a media type.',
      instance: disable,
    },
  ],
  IDEMPOTENCY_KEY_REUSED: [
    {
      what: 'the key of another body',
      ask: async () => {
        const own = { key: (await newMerchant(gateways)).keys.live };
        expect((await create(creation('one'), { 'idempotency-key': 'k' }, own)).status).toBe(201);
        return create(creation('another'), { 'idempotency-key': 'k' }, own);
      },
      detail: 'This Idempotency-Key was used with a different body.',
    },
  ],
  RATE_LIMITED: [
    {
      what: 'too many requests with a key',
      ask: () =>
        exceedRateLimit(async (strict) => {
          const { keys } = await newMerchant(strict);
          return () => call(strict.ports.live, CASES, { key: keys.live });
        }),
      detail: /^More than 1 requests? in a second with this key; wait /,
    },
    {
      what: 'too many requests without one',
      ask: () => exceedRateLimit(async (strict) => () => call(strict.ports.live, CASES)),
      detail: /^More than 1 requests? in a second without a valid key; wait /,
    },
  ],
  HEADERS_TOO_LARGE: [
    {
      what: 'headers of more than 16 KiB',
      ask: () => raw(`GET ${CASES} HTTP/1.1`, `Cookie: ${'a'.repeat(17_000)}\r\n\r\n`),
      detail: 'Request line and headers together must be at most 16 KiB.',
      instance: '/',
    },
  ],
  INTERNAL_ERROR: [
    {
      what: 'a table that is gone',
      ask: whileRenamed,
      detail: 'Something failed on our side; quote the requestId to support.',
      instance: product,
    },
  ],
  SERVICE_UNAVAILABLE: [
    {
      what: 'PostgreSQL stopped, for a read',
      ask: async () => (await withoutPostgres()).read,
      detail: 'The service is temporarily unavailable; try again.',
      instance: product,
    },
    {
      what: 'PostgreSQL stopped, for a write',
      ask: async () => (await withoutPostgres()).write,
      detail: 'The service is temporarily unavailable; try again.',
      instance: SUBSCRIPTIONS,
    },
    {
      what: 'PostgreSQL stopped, for the lookup of a key',
      ask: async () => (await withoutPostgres()).unknownKey,
      detail: 'The service is temporarily unavailable; try again.',
      instance: product,
    },
    {
      what: 'the services killed',
      ask: async () => (await withoutPostgres()).withoutServices,
      detail: 'The service is temporarily unavailable; try again.',
      instance: product,
    },
  ],
  DEADLINE_EXCEEDED: [
    {
      what: 'a write that waits for a lock',
      ask: async () => (await late())[0],
      detail: 'The request took too long; try again.',
      instance: SUBSCRIPTIONS,
    },
    {
      what: 'a read that waits for a lock',
      ask: async () => (await late())[1],
      detail: 'The request took too long; try again.',
      instance: product,
    },
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

function expectDocumentedAnswer(answer: Answer, code: ProblemCode, { detail, instance }: Provocation): void {
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
  it.each(provoked)(
    'returns $what',
    async (provocation) => {
      const answer = await provocation.ask();
      expectDocumentedAnswer(answer, code, provocation);
      expect((await get(CASES)).status).toBe(200);
    },
    60_000,
  );
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
