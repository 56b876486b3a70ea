import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { newKey } from '../support/house.ts';
import { ALL_SCOPES, type GatewayHouse, newMerchant, startGateways } from './gateway-house.ts';
import { call, expectProblem } from './http-call.ts';

const PATH = '/v1/refund-cases';

let gateways: GatewayHouse;
let live: number;
beforeAll(async () => {
  gateways = await startGateways({ RATE_LIMIT_ADDRESS: '100000' });
  live = gateways.ports.live;
});
afterAll(() => gateways.close());

const apiKeys = () => createClient(ApiKeyService, gateways.house.transports.inProcess);

describe('a request without a good key', () => {
  it.each([
    ['no header', {}],
    ['no token', { authorization: 'Bearer' }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic bXBrOng=' }],
    ['a bare key', { authorization: newApiKey('live') }],
  ])('is API_KEY_MISSING with %s', async (_what, headers) => {
    const answer = await call(live, PATH, { headers });
    expectProblem(answer, 'API_KEY_MISSING', 'Bearer');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  it.each([
    ['unknown', newApiKey('live')],
    ['mistyped', `${newApiKey('live').slice(0, -1)}~`],
    ['no key at all', 'hello'],
  ])('is API_KEY_INVALID when the key is %s', async (_what, key) => {
    const answer = await call(live, PATH, { key });
    expectProblem(answer, 'API_KEY_INVALID', 'not valid');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  it('is API_KEY_ENVIRONMENT_MISMATCH on the host of the other environment, which the detail names', async () => {
    const { keys } = await newMerchant(gateways);
    expectProblem(
      await call(live, PATH, { key: keys.test }),
      'API_KEY_ENVIRONMENT_MISMATCH',
      'test key; it is used on the sandbox host',
    );
    const onSandbox = await call(gateways.ports.test, PATH, { key: keys.live });
    expectProblem(onSandbox, 'API_KEY_ENVIRONMENT_MISMATCH', 'live key; it is used on the production host');
    expect(onSandbox.headers['www-authenticate']).toBe('Bearer');
    expect((await call(gateways.ports.test, PATH, { key: keys.test })).status).toBe(200);
  });

  it('is API_KEY_EXPIRED after the expiry, even where the key was good a moment ago', async () => {
    const expiresAt = Date.now() + 1_000;
    const { key } = await apiKeys().issueApiKey({
      ...{ merchantId: randomUUID(), environment: Environment.LIVE, idempotencyKey: newKey(), name: 'short' },
      ...{ scopes: [...ALL_SCOPES], expiresAt: timestampFromMs(expiresAt) },
    });
    expect((await call(live, PATH, { key })).status).toBe(200);
    const answer = await refusedWithin(key, expiresAt + 5_000);
    expectProblem(answer, 'API_KEY_EXPIRED', 'expired');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  it('is API_KEY_INVALID within five seconds after the key was revoked', async () => {
    const merchantId = randomUUID();
    const { key, apiKeyId } = await gateways.issueKey(merchantId, Environment.LIVE);
    expect((await call(live, PATH, { key })).status).toBe(200);
    const environment = Environment.LIVE;
    await apiKeys().revokeApiKey({ merchantId, environment, idempotencyKey: newKey(), apiKeyId });
    expectProblem(await refusedWithin(key, Date.now() + 5_000), 'API_KEY_INVALID');
  });
});

/** The first answer that is not 200, before a time. */
async function refusedWithin(key: string, deadline: number) {
  for (;;) {
    const answer = await call(live, PATH, { key });
    if (answer.status !== 200) return answer;
    if (Date.now() > deadline) throw new Error('the key is still good');
    await delay(100);
  }
}

describe('each operation takes its scope', () => {
  const id = randomUUID();
  const operations = [
    ['GET', PATH, ApiKeyScope.REFUNDS_READ, 'refunds:read'],
    ['GET', `/v1/products/${id}`, ApiKeyScope.CATALOG_READ, 'catalog:read'],
    ['GET', '/v1/funds/releases', ApiKeyScope.FUNDS_READ, 'funds:read'],
    ['GET', '/v1/funds/releases/calendar', ApiKeyScope.FUNDS_READ, 'funds:read'],
    ['GET', '/v1/advance/requests', ApiKeyScope.ADVANCES_READ, 'advances:read'],
    ['GET', '/v1/webhook-subscriptions', ApiKeyScope.WEBHOOKS_MANAGE, 'webhooks:manage'],
    ['POST', '/v1/webhook-subscriptions', ApiKeyScope.WEBHOOKS_MANAGE, 'webhooks:manage'],
    ['POST', `/v1/webhook-subscriptions/${id}/disable`, ApiKeyScope.WEBHOOKS_MANAGE, 'webhooks:manage'],
  ] as const;

  it.each(operations)('%s %s', async (method, path, scope, name) => {
    const merchantId = randomUUID();
    const others = ALL_SCOPES.filter((other) => other !== scope);
    const [without, only] = await Promise.all([
      gateways.issueKey(merchantId, Environment.LIVE, others),
      gateways.issueKey(merchantId, Environment.LIVE, [scope]),
    ]);
    const refused = await call(live, path, { method, key: without.key });
    expectProblem(refused, 'INSUFFICIENT_SCOPE', name);
    expect((await call(live, path, { method, key: only.key })).json?.code).not.toBe('INSUFFICIENT_SCOPE');
  });

  it('and a refusal for want of it counts, as its headers tell', async () => {
    const { key } = await gateways.issueKey(randomUUID(), Environment.LIVE, [ApiKeyScope.FUNDS_READ]);
    const refused = await call(live, PATH, { key });
    expect(refused.headers.ratelimit).toBe('"key";r=99;t=1');
  });
});

it('the scheme is read in any case', async () => {
  const { keys } = await newMerchant(gateways);
  const answer = await call(live, PATH, { headers: { authorization: `bearer ${keys.live}` } });
  expect(answer.status).toBe(200);
});
