import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { API_KEY_SCOPES, type ApiKeyScopeName } from '../../services/platform/api-key-scopes.ts';
import { newKey } from '../support/harness.ts';
import { openSession } from '../support/sql.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { call, expectProblem } from './http-call.ts';
import { startOtherGateway } from './other-gateway.ts';

const PATH = '/v1/refund-cases';
const MERCHANT = randomUUID();

const gateways = await startGateways({ RATE_LIMIT_ADDRESS: '100000' });
const live = gateways.ports.live;
afterAll(() => gateways.close());

const apiKeys = () => createClient(ApiKeyService, gateways.harness.transports.inProcess);

describe('a request without a valid key', () => {
  it.each([
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
    ['mistyped', `${newApiKey('live').slice(0, -1)}~`],
    ['no key at all', 'hello'],
  ])('is API_KEY_INVALID when the key is %s', async (_what, key) => {
    const answer = await call(live, PATH, { key });
    expectProblem(answer, 'API_KEY_INVALID', 'not valid');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  it('is API_KEY_ENVIRONMENT_MISMATCH on the host of the other environment, and the detail names that environment', async () => {
    const { keys } = await newMerchant(gateways);
    expectProblem(
      await call(live, PATH, { key: keys.test }),
      'API_KEY_ENVIRONMENT_MISMATCH',
      'test key; use it on the sandbox host',
    );
    const onSandbox = await call(gateways.ports.test, PATH, { key: keys.live });
    expectProblem(
      onSandbox,
      'API_KEY_ENVIRONMENT_MISMATCH',
      'live key; use it on the live (production) host',
    );
    expect(onSandbox.headers['www-authenticate']).toBe('Bearer');
    expect((await call(gateways.ports.test, PATH, { key: keys.test })).status).toBe(200);
  });

  it('is API_KEY_INVALID within five seconds after the key was revoked, in every process that has cached it', async () => {
    const other = await startOtherGateway(gateways.harness);
    onTestFinished(() => other.close());
    const { key, apiKeyId, merchantId } = await newKeyInUse([live, other.port]);
    const environment = Environment.LIVE;
    await apiKeys().revokeApiKey({ merchantId, environment, idempotencyKey: newKey(), apiKeyId });
    const deadline = Date.now() + 5_000;
    const refusals = await Promise.all([live, other.port].map((port) => waitForRefusal(key, deadline, port)));
    for (const refusal of refusals) expectProblem(refusal, 'API_KEY_INVALID');
  });
});

it('a key that was rotated without an overlap is API_KEY_EXPIRED at once where it was not cached', async () => {
  const { key, apiKeyId } = await gateways.issueKey(MERCHANT, Environment.LIVE);
  const request = { merchantId: MERCHANT, environment: Environment.LIVE, idempotencyKey: newKey() };
  await apiKeys().rotateApiKey({ ...request, apiKeyId, overlapSeconds: 0 });
  expectProblem(await call(live, PATH, { key }), 'API_KEY_EXPIRED');
});

describe('the last use of a key', () => {
  it('is written after the response: a request does not wait for a lock on the key’s record', async () => {
    const { key, apiKeyId } = await gateways.issueKey(randomUUID(), Environment.LIVE);
    await using lock = await openSession(gateways.harness.databaseUrl);
    const lastUse = async () => {
      const { rows } = await lock.query('select last_used_at from api_keys.api_key where id = $1', [
        apiKeyId,
      ]);
      return rows[0].last_used_at as Date | null;
    };
    await lock.query('begin');
    await lock.query('select from api_keys.api_key where id = $1 for update', [apiKeyId]);
    const from = Date.now();
    expect((await call(live, PATH, { key })).status).toBe(200);
    await delay(300);
    expect((await call(live, PATH, { key })).status).toBe(200);
    expect(await lastUse()).toBeNull();
    await lock.query('commit');
    await expect.poll(lastUse).not.toBeNull();
    expect((await lastUse())!.getTime() - from).toBeLessThan(300);
  });
});

/** A key that every listener has just accepted. */
async function newKeyInUse(ports: readonly number[]) {
  const merchantId = randomUUID();
  const { key, apiKeyId } = await gateways.issueKey(merchantId, Environment.LIVE);
  for (const port of ports) expect((await call(port, PATH, { key })).status).toBe(200);
  return { key, apiKeyId, merchantId };
}

/** Repeats a request until it is refused. @returns the refusal; throws after the deadline. */
async function waitForRefusal(key: string, deadline: number, port = live) {
  for (;;) {
    const answer = await call(port, PATH, { key });
    if (answer.status !== 200) return answer;
    if (Date.now() > deadline) throw new Error('the key is still accepted');
    await delay(100);
  }
}

describe('each operation requires its scope', () => {
  const id = randomUUID();
  const operations: [method: string, path: string, scope: ApiKeyScopeName][] = [
    ['GET', PATH, 'refunds:read'],
    ['GET', `/v1/products/${id}`, 'catalog:read'],
    ['GET', '/v1/funds/releases', 'funds:read'],
    ['GET', '/v1/funds/releases/calendar', 'funds:read'],
    ['GET', '/v1/advance/requests', 'advances:read'],
    ['GET', '/v1/webhook-subscriptions', 'webhooks:manage'],
    ['POST', '/v1/webhook-subscriptions', 'webhooks:manage'],
    ['POST', `/v1/webhook-subscriptions/${id}/disable`, 'webhooks:manage'],
  ];

  it.each(Object.entries(API_KEY_SCOPES))('%s allows its own operations only', async (name, scope) => {
    const { key } = await gateways.issueKey(randomUUID(), Environment.LIVE, [scope]);
    for (const [method, path, needed] of operations) {
      const answer = await call(live, path, { method, key });
      if (needed === name) expect([200, 404, 415]).toContain(answer.status);
      else expectProblem(answer, 'INSUFFICIENT_SCOPE', `the scope ${needed}.`);
    }
  });
});

it('the scheme is case-insensitive', async () => {
  const { keys } = await newMerchant(gateways);
  const answer = await call(live, PATH, { headers: { authorization: `bearer ${keys.live}` } });
  expect(answer.status).toBe(200);
});
