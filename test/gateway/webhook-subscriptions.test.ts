import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { newMerchant, newWebhookUrl, startGateways } from './gateway-harness.ts';
import { call, expectOwnHeaders, expectProblem } from './http-call.ts';

const PATH = '/v1/webhook-subscriptions';
const EVENTS = ['refund.requested.v1', 'payment.succeeded.v1'];

const gateways = await startGateways({ RATE_LIMIT_LIVE: '100000' });
afterAll(() => gateways.close());

async function newShop() {
  const { keys, merchantId } = await newMerchant(gateways);
  const post = (body: unknown, idempotencyKey: string = randomUUID(), headers: Record<string, string> = {}) =>
    call(gateways.ports.live, PATH, {
      key: keys.live,
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey, ...headers },
    });
  const create = (url = newWebhookUrl()) => post({ url, eventTypes: EVENTS });
  const list = (query = '') => call(gateways.ports.live, `${PATH}${query}`, { key: keys.live });
  const disable = (id: string) =>
    call(gateways.ports.live, `${PATH}/${id}/disable`, { key: keys.live, method: 'POST' });
  return { merchantId, post, create, list, disable };
}

describe('creation', () => {
  it('returns 201 with the record, its Location, and no secret', async () => {
    const { post } = await newShop();
    const url = newWebhookUrl();
    const answer = await post({ url, eventTypes: EVENTS });
    expect(answer.status).toBe(201);
    expect(answer.json).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url,
      eventTypes: EVENTS,
      environment: 'live',
      state: 'PENDING',
    });
    expect(answer.headers.location).toBe(`${PATH}/${answer.json.id}`);
    expect(answer.headers['idempotency-replayed']).toBeUndefined();
    expect(answer.text).not.toContain('whsec_');
    expectOwnHeaders(answer);
  });

  it.each([
    ['refund.requested', '"refund.requested"'],
    ['', '""'],
    ['a\0"', '"a\\u0000\\""'],
    ['\ud800', '"\\ud800"'],
    [`${'x'.repeat(99)}🙂${'x'.repeat(60_000)}`, `"${'x'.repeat(99)}\\ud83d…"`],
  ])('rejects the event type %j with a pointer to it', async (eventType, shown) => {
    const { post } = await newShop();
    const answer = await post({ url: newWebhookUrl(), eventTypes: [...EVENTS, eventType] });
    expectProblem(answer, 'INVALID_EVENT_TYPE');
    const said = `${shown} is not an event type; /docs lists them under Events.`;
    expect(answer.json.detail).toBe(`/eventTypes/2: ${said}`);
  });

  it('says that the ping cannot be subscribed to, because every endpoint receives it', async () => {
    const { post } = await newShop();
    const answer = await post({ url: newWebhookUrl(), eventTypes: [...EVENTS, 'webhook.ping.v1'] });
    expectProblem(answer, 'INVALID_EVENT_TYPE');
    const said = '"webhook.ping.v1" cannot be subscribed to: every endpoint receives it.';
    expect(answer.json.detail).toBe(`/eventTypes/2: ${said}`);
  });
});

describe('disabling', () => {
  it('returns the record, is idempotent, ignores an idempotency key, and reads ids in either case', async () => {
    const { create, disable } = await newShop();
    const { json } = await create();
    const disabled = { ...json, state: 'DISABLED' };
    const first = await disable(json.id.toUpperCase());
    expect(first).toMatchObject({ status: 200, json: disabled });
    expect((await disable(json.id)).json).toStrictEqual(disabled);
  });

  it('accepts a content type without a body, as clients send it', async () => {
    const { keys } = await newMerchant(gateways);
    const answer = await call(gateways.ports.live, `${PATH}/${randomUUID()}/disable`, {
      key: keys.live,
      method: 'POST',
      body: '',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'a' },
    });
    expectProblem(answer, 'WEBHOOK_SUBSCRIPTION_NOT_FOUND');
  });
});
