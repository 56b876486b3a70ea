import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import type { ProblemCode } from '../../gateway/problems/problem-types.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WebhookSubscriptionService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { sqlOf } from '../support/sql.ts';
import { newMerchant, newWebhookUrl, startGateways } from './gateway-harness.ts';
import { type Answer, call, expectProblem } from './http-call.ts';
import { startOtherGateway } from './other-gateway.ts';

const PATH = '/v1/webhook-subscriptions';
const EVENTS = ['refund.requested.v1', 'payment.succeeded.v1'];
const MANY = 50;

const gateways = await startGateways({ RATE_LIMIT_LIVE: '100000', RATE_LIMIT_SANDBOX: '100000' });
const other = await startOtherGateway(gateways.harness);
const ports = { ...gateways.ports, other: other.port };
afterAll(async () => {
  await other.close();
  await gateways.close();
});

const newBody = () => ({ url: newWebhookUrl(), eventTypes: EVENTS });

async function newShop() {
  const { merchantId, keys } = await newMerchant(gateways);
  const post = (body: unknown, idempotencyKey: string, to: keyof typeof ports = 'live') =>
    call(ports[to], PATH, {
      key: keys[to === 'test' ? 'test' : 'live'],
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    });
  const list = async () => (await call(ports.live, PATH, { key: keys.live })).json.data as { id: string }[];
  const disable = (id: string) =>
    call(ports.live, `${PATH}/${id}/disable`, { key: keys.live, method: 'POST' });
  return { merchantId, post, list, disable };
}

/** Expects the first response again, byte for byte, with another request id. */
function expectReplay(answer: Answer, first: Answer): void {
  expect(answer.status).toBe(201);
  expect(answer.text).toBe(first.text);
  expect(answer.headers.location).toBe(first.headers.location);
  expect(answer.headers['idempotency-replayed']).toBe('true');
  expect(answer.headers['request-id']).not.toBe(first.headers['request-id']);
}

describe('a creation over HTTP', () => {
  it('is replayed byte for byte, also after the subscription has changed', async () => {
    const { post, disable, list } = await newShop();
    const [key, body] = [randomUUID(), newBody()];
    const first = await post(body, key);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    await disable(first.json.id);
    expectReplay(await post(body, key), first);
    expectReplay(await post(body, key, 'other'), first);
    expect(await list()).toHaveLength(1);
  });

  it('happens once among 50 concurrent requests to two processes; the others are replays or conflicts', async () => {
    const { merchantId, post } = await newShop();
    const [key, body] = [randomUUID(), newBody()];
    const answers = await Promise.all(
      Array.from({ length: MANY }, (_, n) => post(body, key, n % 2 === 0 ? 'live' : 'other')),
    );
    const made = answers.filter(({ status }) => status === 201);
    const [first, ...surplus] = made.filter(({ headers }) => !headers['idempotency-replayed']);
    expect(surplus).toEqual([]);
    for (const answer of made) expect(answer.text).toBe(first!.text);
    for (const answer of answers) if (answer.status !== 201) expectProblem(answer, 'IDEMPOTENCY_KEY_IN_USE');
    for (const table of ['webhooks.subscription', 'webhooks.signing_secret', 'webhooks.event']) {
      const counted = `select 1 from ${table} where merchant_id = $1`;
      expect(await sqlOf(gateways.harness, counted, [merchantId]), table).toHaveLength(1);
    }
    expectReplay(await post(body, key), first!);
  });

  it('has the same key bare and quoted, with any printable characters', async () => {
    const { post } = await newShop();
    for (const [bare, quoted] of [
      ['a-key', '"a-key"'],
      ['a "b" \\ ~', '"a \\"b\\" \\\\ ~"'],
      ['k'.repeat(255), `"${'k'.repeat(255)}"`],
    ] as const) {
      const body = newBody();
      const first = await post(body, quoted);
      expectReplay(await post(body, bare), first);
    }
  });

  it('has another key if it differs in case or in inner spaces', async () => {
    const { post } = await newShop();
    for (const key of ['key one', 'Key one', 'key  one']) {
      expect((await post(newBody(), key)).headers['idempotency-replayed']).toBeUndefined();
    }
  });

  it.each<[what: string, spell: (url: string) => string]>([
    [
      'white space',
      (url) => `\r\n{ "url" :\t${JSON.stringify(url)} ,\n "eventTypes": [ "${EVENTS.join('" , "')}" ] }\n`,
    ],
    ['the order of members', (url) => JSON.stringify({ eventTypes: EVENTS, url })],
    [
      'escapes',
      (url) =>
        `{"\\u0075rl":"${url.replaceAll('/', '\\/').replace('h', '\\u0068')}","eventTypes":${JSON.stringify(EVENTS).replace('r', '\\u0072')}}`,
    ],
  ])('is replayed for a body that differs only in %s', async (_what, spell) => {
    const { post } = await newShop();
    const [key, body] = [randomUUID(), newBody()];
    const first = await post(body, key);
    expectReplay(await post(spell(body.url), key), first);
  });

  it.each<[what: string, change: (body: { url: string; eventTypes: string[] }) => unknown]>([
    ['URL', (body) => ({ ...body, url: newWebhookUrl() })],
    ['spelling of the URL', ({ url, ...body }) => ({ ...body, url: url.replace('https', 'HTTPS') })],
    ['event types', (body) => ({ ...body, eventTypes: EVENTS.slice(1) })],
    ['URL, which is not https,', (body) => ({ ...body, url: 'http://shop.example/' })],
    ['URL, with credentials,', (body) => ({ ...body, url: 'https://a:b@shop.example/' })],
    ['URL, which is not public,', (body) => ({ ...body, url: 'https://127.0.0.1/' })],
    ['URL, too long when written,', (body) => ({ ...body, url: `https://a.example/${'é'.repeat(1_000)}` })],
    ['event type, which is unknown,', (body) => ({ ...body, eventTypes: ['nothing.v1'] })],
    ['order of the event types', (body) => ({ ...body, eventTypes: EVENTS.toReversed() })],
  ])('is 422 with another %s under the same key, and creates nothing', async (_what, change) => {
    const { post, list } = await newShop();
    const [key, body] = [randomUUID(), newBody()];
    const first = await post(body, key);
    expectProblem(await post(change(body), key), 'IDEMPOTENCY_KEY_REUSED', 'different body');
    expect(await list()).toEqual([first.json]);
    expectReplay(await post(body, key), first);
  });

  it.each<[what: string, code: ProblemCode, body: unknown]>([
    ['no JSON', 'INVALID_REQUEST', '{'],
    ['a member missing', 'INVALID_REQUEST', { eventTypes: EVENTS }],
    ['half a character', 'INVALID_WEBHOOK_URL', { url: 'https://a/\ud800', eventTypes: EVENTS }],
  ])('is rejected for the syntax of its body even if the key was used: %s', async (_what, code, body) => {
    const { post } = await newShop();
    const key = randomUUID();
    await post(newBody(), key);
    expectProblem(await post(body, key), code);
  });

  it('can be corrected under the same key after an error', async () => {
    const { post } = await newShop();
    const taken = newBody();
    await post(taken, randomUUID());
    const key = randomUUID();
    expectProblem(await post('{', key), 'INVALID_REQUEST');
    expectProblem(await post({ ...newBody(), url: 'https://127.0.0.1/' }, key), 'INVALID_WEBHOOK_URL');
    expectProblem(await post({ ...newBody(), eventTypes: ['x'] }, key), 'INVALID_EVENT_TYPE');
    expectProblem(await post(taken, key), 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS');
    const corrected = newBody();
    const first = await post(corrected, key);
    expect([first.status, first.headers['idempotency-replayed']]).toEqual([201, undefined]);
    expectReplay(await post(corrected, key), first);
  });

  it('creates a new resource once the key is 24 hours old, but not before', async () => {
    const { merchantId, post, list } = await newShop();
    const [key, body] = [randomUUID(), newBody()];
    const first = await post(body, key);
    const age = (interval: string) =>
      sqlOf(
        gateways.harness,
        'update platform.idempotency_record set created_at = now() - $2::interval where merchant_id = $1',
        [merchantId, interval],
      );
    await age('23 hours 59 minutes');
    expectReplay(await post(body, key), first);
    await age('24 hours');
    expectProblem(await post(body, key), 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS');
    const next = newBody();
    const second = await post(next, key);
    expect([second.status, second.headers['idempotency-replayed']]).toEqual([201, undefined]);
    expectReplay(await post(next, key), second);
    expect(await list()).toHaveLength(2);
  });

  it('has separate keys for each environment, each merchant, and internal callers', async () => {
    const [one, two] = [await newShop(), await newShop()];
    const key = randomUUID();
    const answers = [
      await one.post(newBody(), key),
      await one.post(newBody(), key, 'test'),
      await two.post(newBody(), key),
    ];
    for (const { status, headers } of answers) {
      expect([status, headers['idempotency-replayed']]).toEqual([201, undefined]);
    }
    const internal = createClient(WebhookSubscriptionService, gateways.harness.transports.grpc);
    const tenant = { merchantId: one.merchantId, environment: Environment.LIVE };
    const { subscription } = await internal.createWebhookSubscription({
      ...tenant,
      idempotencyKey: key,
      ...newBody(),
    });
    expect((await one.list()).map(({ id }) => id)).toEqual([subscription!.id, answers[0]!.json.id]);
  });
});
