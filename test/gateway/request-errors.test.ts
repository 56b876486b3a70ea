import { randomUUID } from 'node:crypto';
import { afterAll, describe, it } from 'vitest';
import type { ProblemCode } from '../../gateway/problems/problem-types.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { type Call, call, expectProblem } from './http-call.ts';

/** What neither error-table.test.ts provokes nor documented-parameters.test.ts tries at every operation. */

const SUBSCRIPTIONS = '/v1/webhook-subscriptions';

const gateways = await startGateways({ RATE_LIMIT_LIVE: '100000', RATE_LIMIT_ADDRESS: '100000' });
const key = (await newMerchant(gateways)).keys.live;
const live = gateways.ports.live;
afterAll(() => gateways.close());

type Row = [what: string, code: ProblemCode, path: string, detail: string | RegExp, call?: Call];

const uuid = randomUUID();
const creation = { url: 'https://shop.example/hooks', eventTypes: ['refund.requested.v1'] };
const create = (body: unknown, headers: Call['headers'] = {}): Call => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json', 'idempotency-key': 'k1', ...headers },
});

const PARAMETERS: Row[] = [
  ['broken name', 'INVALID_REQUEST', '/v1/refund-cases?%ff=1', 'The query must be percent-encoded UTF-8'],
  ['__proto__', 'INVALID_REQUEST', '/v1/refund-cases?__proto__=1', "'__proto__' is unknown"],
  ['UNSPECIFIED', 'INVALID_REQUEST', '/v1/refund-cases?status=UNSPECIFIED', 'must be one of'],
  [
    'from after to',
    'INVALID_REQUEST',
    '/v1/funds/releases?from=2026-02-01&to=2026-01-31',
    "'from' must not be later",
  ],
  ['escaped name', 'INVALID_REQUEST', '/v1/refund-cases?a/b~c=1', "Query parameter 'a/b~c' is unknown"],
  ['no name', 'INVALID_REQUEST', '/v1/refund-cases?=1', "Query parameter '' is unknown"],
  [
    'made-up cursor',
    'INVALID_CURSOR',
    '/v1/refund-cases?after=abc',
    "'after' must be a nextCursor of this list",
  ],
];

const BODIES: Row[] = [
  ['no body', 'INVALID_REQUEST', SUBSCRIPTIONS, 'The body must be a JSON object', create('')],
  ['no object', 'INVALID_REQUEST', SUBSCRIPTIONS, 'The body must be a JSON object', create('[]')],
  ['null', 'INVALID_REQUEST', SUBSCRIPTIONS, 'The body must be a JSON object', create('null')],
  ['empty url', 'INVALID_WEBHOOK_URL', SUBSCRIPTIONS, '/url', create({ ...creation, url: '' })],
  [
    'half a character',
    'INVALID_WEBHOOK_URL',
    SUBSCRIPTIONS,
    '/url',
    create('{"url":"https://a/\\ud800","eventTypes":["a"]}'),
  ],
  [
    '__proto__',
    'INVALID_REQUEST',
    SUBSCRIPTIONS,
    '/__proto__ is unknown',
    create('{"__proto__":{},"url":"https://a","eventTypes":["a"]}'),
  ],
  [
    'half a character in a name',
    'INVALID_REQUEST',
    SUBSCRIPTIONS,
    /^\/\ufffd is unknown/,
    create('{"\\ud800":1,"url":"https://a","eventTypes":["a"]}'),
  ],
  ['NUL in url', 'INVALID_WEBHOOK_URL', SUBSCRIPTIONS, '/url', create({ ...creation, url: 'https://a/\0' })],
  [
    'url long when written',
    'INVALID_REQUEST',
    SUBSCRIPTIONS,
    /^\/url must be at most 2048 characters long, also as the service stores it\.$/,
    create({ ...creation, url: `https://shop.example/${'é'.repeat(1_000)}` }),
  ],
  [
    'empty event type',
    'INVALID_EVENT_TYPE',
    SUBSCRIPTIONS,
    '/eventTypes/1',
    create({ ...creation, eventTypes: ['a', ''] }),
  ],
  [
    'deep nesting',
    'INVALID_REQUEST',
    SUBSCRIPTIONS,
    'must not be nested more than 32 levels deep',
    create(`{"url":"https://shop.example","eventTypes":${'['.repeat(30_000)}${']'.repeat(30_000)}}`),
  ],
  ['body on a GET', 'INVALID_REQUEST', '/v1/refund-cases', 'takes no body', { method: 'GET', body: '{}' }],
  [
    'text body on disable',
    'INVALID_REQUEST',
    `${SUBSCRIPTIONS}/${uuid}/disable`,
    'takes no body',
    { method: 'POST', body: 'x' },
  ],
  [
    'no content type',
    'UNSUPPORTED_MEDIA_TYPE',
    SUBSCRIPTIONS,
    'application/json',
    { method: 'POST', body: '{}' },
  ],
  [
    'another charset',
    'UNSUPPORTED_MEDIA_TYPE',
    SUBSCRIPTIONS,
    'UTF-8',
    create('{}', { 'content-type': 'application/json; charset=latin1' }),
  ],
  [
    'no media type at all',
    'UNSUPPORTED_MEDIA_TYPE',
    SUBSCRIPTIONS,
    'application/json',
    create('{}', { 'content-type': ';' }),
  ],
  ['2 MiB', 'PAYLOAD_TOO_LARGE', SUBSCRIPTIONS, '64 KiB', create(' '.repeat(2_097_152))],
];

const IDEMPOTENCY: Row[] = [
  [
    'long key',
    'INVALID_REQUEST',
    SUBSCRIPTIONS,
    '1 to 255',
    create(creation, { 'idempotency-key': 'a'.repeat(256) }),
  ],
  [
    'two keys',
    'INVALID_REQUEST',
    SUBSCRIPTIONS,
    'given once',
    create(creation, { 'idempotency-key': ['a', 'b'] }),
  ],
  [
    'open quote',
    'INVALID_REQUEST',
    SUBSCRIPTIONS,
    'Idempotency-Key',
    create(creation, { 'idempotency-key': '"a' }),
  ],
  [
    'empty quotes',
    'INVALID_REQUEST',
    SUBSCRIPTIONS,
    'Idempotency-Key',
    create(creation, { 'idempotency-key': '""' }),
  ],
  [
    'beyond ASCII',
    'INVALID_REQUEST',
    SUBSCRIPTIONS,
    'printable ASCII',
    create(creation, { 'idempotency-key': 'é' }),
  ],
  [
    'a tab',
    'INVALID_REQUEST',
    SUBSCRIPTIONS,
    'printable ASCII',
    create(creation, { 'idempotency-key': 'a\tb' }),
  ],
];

const ROUTES: Row[] = [
  ['root', 'ROUTE_NOT_FOUND', '/', 'no operation'],
  ['no id of a product', 'ROUTE_NOT_FOUND', '/v1/products/', 'no operation'],
  [
    'no id of a subscription',
    'ROUTE_NOT_FOUND',
    `${SUBSCRIPTIONS}//disable`,
    'no operation',
    { method: 'POST' },
  ],
  ['no id, by another method', 'ROUTE_NOT_FOUND', '/v1/products/', 'no operation', { method: 'DELETE' }],
  ['another case', 'ROUTE_NOT_FOUND', '/V1/refund-cases', 'no operation'],
  ['two slashes', 'ROUTE_NOT_FOUND', '/v1//refund-cases', 'no operation'],
  ['unknown path with a large body', 'ROUTE_NOT_FOUND', '/nope', 'no operation', create(' '.repeat(70_000))],
  ['broken percent-encoding', 'INVALID_REQUEST', '/v1/products/%E0%A4%A', 'percent-encoded'],
];

describe.each([
  ['parameters', PARAMETERS],
  ['bodies', BODIES],
  ['idempotency keys', IDEMPOTENCY],
  ['routes', ROUTES],
])('rejects %s:', (_group, rows) => {
  it.each(rows)('%s with %s', async (_what, code, path, detail, options) => {
    expectProblem(await call(live, path, { key, ...options }), code, detail);
  });
});

describe('checks run in the documented order:', () => {
  const twice = (query: string) => `${SUBSCRIPTIONS}?${query}`;
  it.each<Row>([
    ['route before key', 'ROUTE_NOT_FOUND', '/nope', '', { key: 'x' }],
    [
      'key before content type',
      'API_KEY_INVALID',
      SUBSCRIPTIONS,
      '',
      { ...create('x', { 'content-type': 'a/b' }), key: 'x' },
    ],
    ['key before parameters', 'API_KEY_INVALID', '/v1/refund-cases?foo=1', '', { key: 'x' }],
    [
      'content type before size',
      'UNSUPPORTED_MEDIA_TYPE',
      SUBSCRIPTIONS,
      '',
      create(' '.repeat(70_000), { 'content-type': 'a/b' }),
    ],
    [
      'size before Idempotency-Key',
      'PAYLOAD_TOO_LARGE',
      SUBSCRIPTIONS,
      '',
      create(' '.repeat(70_000), { 'idempotency-key': '' }),
    ],
    [
      'Idempotency-Key before JSON',
      'IDEMPOTENCY_KEY_MISSING',
      SUBSCRIPTIONS,
      '',
      create('{', { 'idempotency-key': '' }),
    ],
    [
      'Idempotency-Key before parameters',
      'IDEMPOTENCY_KEY_MISSING',
      twice('foo=1'),
      '',
      create('{}', { 'idempotency-key': '' }),
    ],
    [
      'body before state',
      'INVALID_REQUEST',
      `${SUBSCRIPTIONS}/${uuid}/disable?foo=1`,
      '',
      { method: 'POST' },
    ],
  ])('%s', async (_what, code, path, _detail, options) => {
    expectProblem(await call(live, path, { key, ...options }), code);
  });
});
