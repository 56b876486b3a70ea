import { randomUUID } from 'node:crypto';
import { afterAll, describe, it } from 'vitest';
import type { ProblemCode } from '../../gateway/problems/problem-types.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { type Call, call, expectProblem } from './http-call.ts';

/** What neither error-table.test.ts provokes, nor documented-parameters and openapi-bounds.property.test.ts try at every operation. */

const SUBSCRIPTIONS = '/v1/webhook-subscriptions';

const gateways = await startGateways({ RATE_LIMIT_LIVE: '100000', RATE_LIMIT_ADDRESS: '100000' });
const key = (await newMerchant(gateways)).keys.live;
const live = gateways.ports.live;
afterAll(() => gateways.close());

const uuid = randomUUID();
const creation = { url: 'https://shop.example/hooks', eventTypes: ['refund.requested.v1'] };
const create = (body: unknown, headers: Call['headers'] = {}): Call => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json', 'idempotency-key': 'k1', ...headers },
});
const LARGE = ' '.repeat(70_000);

const expectRefusal = async (path: string, code: ProblemCode, detail: string | RegExp, request: Call = {}) =>
  expectProblem(await call(live, path, { key, ...request }), code, detail);

it.each([
  ['/v1/refund-cases?%ff=1', 'The query must be percent-encoded UTF-8'],
  ['/v1/refund-cases?__proto__=1', "'__proto__' is unknown"],
  ['/v1/refund-cases?status=UNSPECIFIED', 'must be one of'],
  ['/v1/funds/releases?from=2026-02-01&to=2026-01-31', "'from' must not be later"],
  ['/v1/refund-cases?a/b~c=1', "Query parameter 'a/b~c' is unknown"],
  ['/v1/refund-cases?=1', "Query parameter '' is unknown"],
])('%s is INVALID_REQUEST: %s', (path, detail) => expectRefusal(path, 'INVALID_REQUEST', detail));

it.each<[what: string, code: ProblemCode, detail: string | RegExp, request: Call]>([
  ['no body', 'INVALID_REQUEST', 'The body must be a JSON object', create('')],
  ['no object', 'INVALID_REQUEST', 'The body must be a JSON object', create('[]')],
  ['an empty url', 'INVALID_WEBHOOK_URL', '/url', create({ ...creation, url: '' })],
  ['NUL in the url', 'INVALID_WEBHOOK_URL', '/url', create({ ...creation, url: 'https://a/\0' })],
  [
    'a url that is long when written',
    'INVALID_REQUEST',
    /^\/url must be at most 2048 characters long, also as the service stores it\.$/,
    create({ ...creation, url: `https://shop.example/${'é'.repeat(1_000)}` }),
  ],
  [
    '__proto__',
    'INVALID_REQUEST',
    '/__proto__ is unknown',
    create('{"__proto__":{},"url":"https://a","eventTypes":["a"]}'),
  ],
  [
    'half a character in a name',
    'INVALID_REQUEST',
    /^\/\ufffd is unknown/,
    create('{"\\ud800":1,"url":"https://a","eventTypes":["a"]}'),
  ],
  [
    'deep nesting',
    'INVALID_REQUEST',
    'must not be nested more than 32 levels deep',
    create(`{"url":"https://shop.example","eventTypes":${'['.repeat(30_000)}${']'.repeat(30_000)}}`),
  ],
  ['no content type', 'UNSUPPORTED_MEDIA_TYPE', 'application/json', { method: 'POST', body: '{}' }],
  [
    'another charset',
    'UNSUPPORTED_MEDIA_TYPE',
    'UTF-8',
    create('{}', { 'content-type': 'application/json; charset=latin1' }),
  ],
  [
    'two idempotency keys',
    'INVALID_REQUEST',
    'given once',
    create(creation, { 'idempotency-key': ['a', 'b'] }),
  ],
  [
    'an idempotency key beyond ASCII',
    'INVALID_REQUEST',
    'printable ASCII',
    create(creation, { 'idempotency-key': 'é' }),
  ],
])('a creation with %s is %s', (_what, ...refusal) => expectRefusal(SUBSCRIPTIONS, ...refusal));

it.each([
  ['/v1/refund-cases', { method: 'GET', body: '{}' }],
  [`${SUBSCRIPTIONS}/${uuid}/disable`, { method: 'POST', body: 'x' }],
])('%s takes no body', (path, request) => expectRefusal(path, 'INVALID_REQUEST', 'takes no body', request));

it.each<[path: string, request?: Call]>([
  ['/'],
  ['/v1/products/'],
  [`${SUBSCRIPTIONS}//disable`, { method: 'POST' }],
  ['/v1/products/', { method: 'DELETE' }],
  ['/V1/refund-cases'],
  ['/v1//refund-cases'],
  ['/nope', create(LARGE)],
])('%s is no operation', (path, request) => expectRefusal(path, 'ROUTE_NOT_FOUND', 'no operation', request));

const OTHER_KEY = { key: 'x' };

describe('checks run in the documented order:', () => {
  it.each<[what: string, code: ProblemCode, path: string, request: Call]>([
    ['route before key', 'ROUTE_NOT_FOUND', '/nope', OTHER_KEY],
    [
      'key before content type',
      'API_KEY_INVALID',
      SUBSCRIPTIONS,
      { ...create('x', { 'content-type': 'a/b' }), ...OTHER_KEY },
    ],
    ['key before parameters', 'API_KEY_INVALID', '/v1/refund-cases?foo=1', OTHER_KEY],
    [
      'content type before size',
      'UNSUPPORTED_MEDIA_TYPE',
      SUBSCRIPTIONS,
      create(LARGE, { 'content-type': 'a/b' }),
    ],
    [
      'size before Idempotency-Key',
      'PAYLOAD_TOO_LARGE',
      SUBSCRIPTIONS,
      create(LARGE, { 'idempotency-key': '' }),
    ],
    [
      'Idempotency-Key before JSON',
      'IDEMPOTENCY_KEY_MISSING',
      SUBSCRIPTIONS,
      create('{', { 'idempotency-key': '' }),
    ],
    [
      'Idempotency-Key before parameters',
      'IDEMPOTENCY_KEY_MISSING',
      `${SUBSCRIPTIONS}?foo=1`,
      create('{}', { 'idempotency-key': '' }),
    ],
    [
      'parameters before state',
      'INVALID_REQUEST',
      `${SUBSCRIPTIONS}/${uuid}/disable?foo=1`,
      { method: 'POST' },
    ],
  ])('%s', (_what, code, path, request) => expectRefusal(path, code, '', request));
});
