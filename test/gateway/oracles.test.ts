import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { newKey } from '../support/harness.ts';
import { newMerchant, newWebhookUrl, startGateways } from './gateway-harness.ts';
import { type Answer, call, expectProblem } from './http-call.ts';
import { seedMerchant } from './seed-merchant.ts';

const SUBSCRIPTIONS = '/v1/webhook-subscriptions';

let statements: string[] = [];

async function newShop() {
  const { merchantId, keys } = await newMerchant(gateways);
  const ask = (
    path: string,
    options: Parameters<typeof call>[2] = {},
    environment: 'live' | 'test' = 'live',
  ) => call(gateways.ports[environment], path, { key: keys[environment], ...options });
  const subscribe = (
    url: string,
    environment: 'live' | 'test' = 'live',
    idempotencyKey: string = randomUUID(),
  ) =>
    ask(
      SUBSCRIPTIONS,
      { body: { url, eventTypes: ['refund.requested.v1'] }, headers: { 'idempotency-key': idempotencyKey } },
      environment,
    );
  const seed = (environment: Environment) =>
    seedMerchant(gateways.harness.transports.inProcess, merchantId, environment);
  return { merchantId, ask, subscribe, seed };
}

interface Observed {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
  readonly statements: string[];
}

/**
 * Everything by which a client could distinguish two responses, and the statements sent to the database for them,
 * without the request id, the time, the remaining quota, and the client's own values.
 */
async function observe(said: string, ask: () => Promise<Answer>): Promise<Observed> {
  statements = [];
  const { status, headers, text } = await ask();
  const { date, ratelimit, 'request-id': requestId, ...telling } = headers;
  const without = (told: string) => told.replaceAll(said, '…').replaceAll(String(requestId), '…');
  return {
    status,
    headers: telling,
    text: without(text),
    statements: statements.map((sql) => shapeOf(without(sql))),
  };
}

/** A statement without its values and the time that it took. */
const shapeOf = (sql: string) =>
  sql
    .replaceAll(/'(?:[^']|'')*'/g, '?')
    .replace(/\[took [^\]]*\]/, '')
    .replaceAll(/\d+ results?/g, '');

/** Waits for what follows a response, such as recording the key's last use. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 250));

const limits = { RATE_LIMIT_LIVE: '100000', RATE_LIMIT_SANDBOX: '100000', RATE_LIMIT_ADDRESS: '100000' };
const gateways = await startGateways(limits, undefined, (sql) => statements.push(sql));
afterAll(() => gateways.close());

/** The requesting merchant, and the owner of the requested records. */
const [requester, victim] = [await newShop(), await newShop()];
// The keys' last uses are recorded now, and not again for a minute.
for (const { ask } of [requester, victim])
  await Promise.all([ask(SUBSCRIPTIONS), ask(SUBSCRIPTIONS, {}, 'test')]);
await settled();

describe('a key', () => {
  const apiKeys = () => createClient(ApiKeyService, gateways.harness.transports.inProcess);
  const show = (key: string) => observe(key, () => call(gateways.ports.live, '/v1/refund-cases', { key }));
  const issue = async () => {
    const merchantId = randomUUID();
    return { merchantId, ...(await gateways.issueKey(merchantId, Environment.LIVE)) };
  };
  const revoke = ({ merchantId, apiKeyId }: Awaited<ReturnType<typeof issue>>) =>
    apiKeys().revokeApiKey({ merchantId, apiKeyId, environment: Environment.LIVE, idempotencyKey: newKey() });

  it('that does not exist and one that was revoked get the same response, with the same read', async () => {
    const revoked = await issue();
    await revoke(revoked);
    const seen = [await show(newApiKey('live')), await show(revoked.key), await show(newApiKey('live'))];
    expect(seen[0]!.status).toBe(401);
    expect(seen[0]!.statements).toHaveLength(1);
    for (const other of seen) expect(other).toEqual(seen[0]);
    await settled();
    expect(statements).toHaveLength(1);
  });

  it('of the other environment gets the same response whether it does not exist or was revoked', async () => {
    const merchantId = randomUUID();
    const { key, apiKeyId } = await gateways.issueKey(merchantId, Environment.TEST);
    const environment = Environment.TEST;
    await apiKeys().revokeApiKey({ merchantId, apiKeyId, environment, idempotencyKey: newKey() });
    const never = await show(newApiKey('live'));
    expect(await show(key)).toEqual(never);
    expect(await show(newApiKey('test'))).toEqual(never);
  });

  it('that is mistyped gets the same response as one that does not exist, without a database read', async () => {
    const never = await show(newApiKey('live'));
    const { key } = await issue();
    const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    for (const shown of [mistyped, key.slice(0, -1), 'mpk_live_', 'x'.repeat(1_000)]) {
      expect(await show(shown)).toEqual({ ...never, statements: [] });
    }
  });
});

describe('a resource of another merchant or environment gets the same response as one that does not exist', () => {
  /** Without the read of the requester's own key, which the gateway repeats every few seconds. */
  const observeRecord = async (said: string, ask: () => Promise<Answer>) => {
    const { statements: all, ...observed } = await observe(said, ask);
    return { ...observed, statements: all.filter((sql) => !sql.includes('"api_keys"."api_key"')) };
  };
  const expectSameResponse = async (
    absent: string,
    present: readonly string[],
    ask: (id: string) => Promise<Answer>,
  ) => {
    const never = await observeRecord(absent, () => ask(absent));
    expect(never.statements.length).toBeGreaterThan(0);
    for (const id of present) expect(await observeRecord(id, () => ask(id))).toEqual(never);
    return never;
  };

  it('a product', async () => {
    const present = [
      await victim.seed(Environment.LIVE).product(),
      await victim.seed(Environment.TEST).product(),
      await requester.seed(Environment.TEST).product(),
    ];
    const never = await expectSameResponse(randomUUID(), present, (id) =>
      requester.ask(`/v1/products/${id}`),
    );
    expect(never.status).toBe(404);
    const own = await requester.seed(Environment.LIVE).product();
    expect((await requester.ask(`/v1/products/${own}`)).status).toBe(200);
  });

  it('a subscription to disable', async () => {
    const present = [
      (await victim.subscribe(newWebhookUrl())).json.id,
      (await victim.subscribe(newWebhookUrl(), 'test')).json.id,
      (await requester.subscribe(newWebhookUrl(), 'test')).json.id,
    ];
    const disable = (id: string) => requester.ask(`${SUBSCRIPTIONS}/${id}/disable`, { method: 'POST' });
    const never = await expectSameResponse(randomUUID(), present, disable);
    expect(never.status).toBe(404);
    expect((await victim.ask(SUBSCRIPTIONS)).json.data[0].state).toBe('PENDING');
  });

  it.each(['orderId', 'paymentIntentId'])('the refund cases of its %s', async (filter) => {
    const said = { orderId: randomUUID(), paymentIntentId: randomUUID() };
    await victim.seed(Environment.LIVE).refundCase(said);
    await requester.seed(Environment.TEST).refundCase(said);
    const present = [said[filter as keyof typeof said]];
    const never = await expectSameResponse(randomUUID(), present, (id) =>
      requester.ask(`/v1/refund-cases?${filter}=${id}`),
    );
    expect(JSON.parse(never.text)).toEqual({ data: [], hasMore: false, nextCursor: null });
  });

  it('its cursor, which gets the same response as garbage', async () => {
    for (const environment of [Environment.LIVE, Environment.TEST]) {
      const seed = victim.seed(environment);
      await seed.refundCase();
      await seed.refundCase();
    }
    const pages = [
      await victim.ask('/v1/refund-cases?limit=1'),
      await victim.ask('/v1/refund-cases?limit=1', {}, 'test'),
    ];
    const take = (cursor: string) =>
      observeRecord(cursor, () => requester.ask(`/v1/refund-cases?limit=1&after=${cursor}`));
    const garbage = await take('garbage');
    expect(garbage.status).toBe(400);
    expect(garbage.statements).toEqual([]);
    for (const { json } of pages) {
      expect(json.nextCursor).toEqual(expect.any(String));
      const tampered = json.nextCursor.replace(/^./, (first: string) => (first === 'A' ? 'B' : 'A'));
      for (const cursor of [json.nextCursor, tampered]) expect(await take(cursor)).toEqual(garbage);
    }
  });

  it('the URL of its subscription, and the key that created it', async () => {
    const [url, key] = [newWebhookUrl(), randomUUID()];
    await victim.subscribe(url, 'live', key);
    await requester.subscribe(url, 'test', key);
    const create = async (target: string, idempotencyKey: string) => {
      const { text, headers, ...observed } = await observeRecord(target, () =>
        requester.subscribe(target, 'live', idempotencyKey),
      );
      const { id, ...record } = JSON.parse(text);
      const { location, ...telling } = headers;
      return { ...observed, record, telling };
    };
    const [taken, never] = [await create(url, key), await create(newWebhookUrl(), randomUUID())];
    expect(taken.status).toBe(201);
    expect(taken).toEqual(never);
    expectProblem(await requester.subscribe(url), 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS');
  });
});
