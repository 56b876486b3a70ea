import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { ApiError, MerchantPayments, type MerchantPaymentsOptions } from '../../client/index.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newMerchant, newWebhookUrl, startGateways } from '../gateway/gateway-harness.ts';
import { seedMerchant } from '../gateway/seed-merchant.ts';
import { startLossyProxy } from '../support/lossy-proxy.ts';

const gateways = await startGateways();
afterAll(() => gateways.close());

/** A merchant with data in the sandbox, and their client. */
async function newShop() {
  const { merchantId, keys } = await newMerchant(gateways);
  const clientAt = (port: number, options: Partial<MerchantPaymentsOptions> = {}) =>
    new MerchantPayments({ apiKey: keys.test, baseUrl: `http://127.0.0.1:${port}`, ...options });
  const seed = seedMerchant(gateways.harness.transports.inProcess, merchantId, Environment.TEST);
  return { seed, clientAt, client: clientAt(gateways.ports.test) };
}

it('iterates over all items, and over pages, with the same filters on each', async () => {
  const { seed, client } = await newShop();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.unshift((await seed.refundCase({ amountMinor: 100n })).id);
  const query = { initiator: 'MERCHANT', limit: 2 } as const;

  const items = await Array.fromAsync(client.refundCases.list(query), ({ id }) => id);
  expect(items).toEqual(ids);
  const pages = await Array.fromAsync(client.refundCases.list(query).pages(), ({ data }) => data.length);
  expect(pages).toEqual([2, 2, 1]);
  const first = await client.refundCases.list(query);
  expect(first).toMatchObject({ hasMore: true, data: [{ id: ids[0] }, { id: ids[1] }] });
  const rest = await Array.fromAsync(client.refundCases.list({ ...query, after: first.nextCursor! }));
  expect(rest.map(({ id }) => id)).toEqual(ids.slice(2));
  expect(await Array.fromAsync(client.refundCases.list({ ...query, initiator: 'CUSTOMER' }))).toEqual([]);
});

it('iterates over a list whose last page has no cursor at all', async () => {
  const { seed, client } = await newShop();
  await seed.sale(90_000n, 3);
  const ids = [(await seed.advance(30_000n)).id, (await seed.advance(30_000n)).id];
  const items = await Array.fromAsync(client.advanceRequests.list({ limit: 1 }), ({ id }) => id);
  expect(items).toEqual(ids.toReversed());
});

it('creates once, although the first response is lost', async () => {
  const { client, clientAt } = await newShop();
  await using proxy = await startLossyProxy(gateways.ports.test);
  proxy.loseAnswersTo(/^POST /);
  const impatient = clientAt(proxy.port, { timeoutMs: 2_000, maxRetries: 10 });
  const url = newWebhookUrl();
  const creation = impatient.webhookSubscriptions.create({ url, eventTypes: ['refund.requested.v1'] });
  await expect.poll(() => proxy.losses).toBeGreaterThan(0);
  proxy.heal();

  const created = await creation;
  expect(created).toMatchObject({ url, state: 'PENDING', environment: 'test' });
  expect((await client.webhookSubscriptions.list()).data).toEqual([created]);
});

it('throws an error of the API with all that its response says', async () => {
  const { client } = await newShop();
  const failure = await client.products.get('0197c9f2-8f3a-7d10-9b1e-0d5f3f1c2a01').catch((error) => error);
  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({
    name: 'ApiError',
    status: 404,
    code: 'PRODUCT_NOT_FOUND',
    detail: expect.stringMatching(/./),
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: expect.stringContaining('/docs/errors#PRODUCT_NOT_FOUND'),
  });
  expect(failure.message).toContain(`${failure.detail} (PRODUCT_NOT_FOUND, ${failure.requestId})`);
  // Unescaped, it would be the path of another operation.
  await expect(client.products.get('../refund-cases')).rejects.toMatchObject({ status: 400 });
  expect(() => client.products.get('')).toThrow(TypeError);
});

describe('the constructor', () => {
  const given = { apiKey: `mpk_test_${'a'.repeat(38)}`, baseUrl: 'https://sandbox.payments.example' };

  it('derives the environment from the key', () => {
    expect(new MerchantPayments(given).environment).toBe('test');
    const apiKey = given.apiKey.replace('test', 'live');
    expect(new MerchantPayments({ ...given, apiKey }).environment).toBe('live');
  });

  it.each([
    [{ apiKey: undefined }, /mpk_live_ or mpk_test_/],
    [{ apiKey: 'sk_live_1234' }, /^(?!.*1234).*mpk_live_ or mpk_test_/],
    [{ apiKey: `${given.apiKey}\n` }, /mpk_live_ or mpk_test_/],
    [{ baseUrl: undefined }, /address of the API/],
    [{ baseUrl: 'sandbox.payments.example' }, /address of the API/],
    [{ baseUrl: 'https://user:password@payments.example' }, /address of the API/],
    [{ baseUrl: 'http://payments.example' }, /must use https/],
    [{ maxRetries: -1 }, /maxRetries/],
    [{ timeoutMs: 0 }, /timeoutMs/],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, /timeoutMs/],
    [{ timeoutMs: 2 ** 31 }, /timeoutMs/],
  ])('refuses %o', (wrong, message) => {
    expect(() => new MerchantPayments({ ...given, ...wrong } as MerchantPaymentsOptions)).toThrow(message);
  });

  it('does not show the key when the client is printed', () => {
    const printed = inspect(new MerchantPayments(given), { depth: 10, showHidden: true });
    expect(printed + JSON.stringify(new MerchantPayments(given))).not.toContain(given.apiKey);
  });
});
