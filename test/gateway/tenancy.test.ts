import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { type Answer, call, expectProblem } from './http-call.ts';
import { seedMerchant } from './seed-merchant.ts';

/** Four tenants, two merchants in two environments, that share everything they may: order, URL, key. */
const ORDER_ID = randomUUID();
const SUBSCRIPTION = { url: 'https://93.184.215.14/hooks', eventTypes: ['refund.requested.v1'] };
const ITEMS = 3;
/** Less than there are refund cases. */
const LIMIT = 2;

interface World {
  readonly environment: 'live' | 'test';
  readonly key: string;
  readonly refundCaseIds: readonly string[];
  readonly productId: string;
  /** Its gross sales, unlike those of the other worlds. */
  readonly sales: bigint;
  readonly advanceIds: readonly string[];
  readonly subscriptionId: string;
  readonly cursors: Readonly<Record<string, string>>;
}

const gateways = await startGateways({ RATE_LIMIT_LIVE: '100000', RATE_LIMIT_SANDBOX: '100000' });
afterAll(() => gateways.close());

/** What a request needs of its sender. */
type Requester = Pick<World, 'environment' | 'key'>;

const request = (requester: Requester, path: string, options: Parameters<typeof call>[2] = {}) =>
  call(gateways.ports[requester.environment], path, { key: requester.key, ...options });

const create = (requester: Requester) =>
  request(requester, '/v1/webhook-subscriptions', {
    body: SUBSCRIPTION,
    headers: { 'idempotency-key': 'the-same' },
  });

async function newWorld(
  { merchantId, keys }: Awaited<ReturnType<typeof newMerchant>>,
  environment: 'live' | 'test',
  sales: bigint,
): Promise<World> {
  const seed = seedMerchant(
    gateways.harness.transports.inProcess,
    merchantId,
    environment === 'live' ? Environment.LIVE : Environment.TEST,
  );
  const refundCaseIds: string[] = [];
  for (let n = 0; n < ITEMS; n += 1) refundCaseIds.unshift((await seed.refundCase({ orderId: ORDER_ID })).id);
  await seed.sale(sales, ITEMS);
  const advanceIds: string[] = [];
  for (let n = 0; n < 2; n += 1) advanceIds.unshift((await seed.advance(sales / 3n + 1n)).id);
  const productId = await seed.product();
  const world = { environment, key: keys[environment], refundCaseIds, productId, sales, advanceIds };
  const created = await create(world);
  expect(created.status).toBe(201);
  const cursors: Record<string, string> = {};
  for (const path of ['/v1/refund-cases', '/v1/funds/releases', '/v1/advance/requests']) {
    cursors[path] = (await request(world, `${path}?limit=1`)).json.nextCursor;
  }
  return { ...world, subscriptionId: created.json.id, cursors };
}

const [one, other] = [await newMerchant(gateways), await newMerchant(gateways)];
const worlds = [
  await newWorld(one, 'live', 10_003n),
  await newWorld(one, 'test', 20_006n),
  await newWorld(other, 'live', 30_009n),
  await newWorld(other, 'test', 40_012n),
];

const idsOf = ({ json }: Answer): string[] => json.data.map(({ id }: { id: string }) => id);
const sumOf = (items: { [name: string]: number }[], name: string) =>
  BigInt(items.reduce((sum, item) => sum + item[name]!, 0));

/** The response of each operation to a tenant that names records of another one, or its own. */
const OPERATIONS: Readonly<Record<string, (caller: World, target: World) => Promise<void>>> = {
  async listRefundCases(caller) {
    const answer = await request(caller, `/v1/refund-cases?orderId=${ORDER_ID}&limit=${LIMIT}`);
    expect(idsOf(answer)).toEqual(caller.refundCaseIds.slice(0, LIMIT));
  },
  async getProduct(caller, target) {
    const answer = await request(caller, `/v1/products/${target.productId}`);
    if (caller === target) {
      expect(answer.json).toMatchObject({ id: target.productId, environment: caller.environment });
      return;
    }
    expectProblem(answer, 'PRODUCT_NOT_FOUND');
    const absent = await request(caller, `/v1/products/${randomUUID()}`);
    const { requestId, instance, ...rest } = answer.json;
    expect(absent.json).toMatchObject(rest);
  },
  async listFundsReleases(caller) {
    const { json } = await request(caller, '/v1/funds/releases');
    expect(json.data).toHaveLength(ITEMS);
    expect(sumOf(json.data, 'grossAllocatedAmountMinor')).toBe(caller.sales);
  },
  async getReleaseCalendar(caller) {
    const { json } = await request(caller, '/v1/funds/releases');
    const { date } = json.data[0];
    const calendar = await request(caller, `/v1/funds/releases/calendar?month=${date.slice(0, 7)}`);
    const rows = json.data.filter((row: { date: string }) => row.date.startsWith(date.slice(0, 7)));
    expect(sumOf(calendar.json.days, 'scheduledAmountMinor')).toBe(sumOf(rows, 'scheduledAmountMinor'));
    expect(sumOf(calendar.json.days, 'salesCount')).toBe(BigInt(rows.length));
  },
  async listAdvanceRequests(caller) {
    const answer = await request(caller, `/v1/advance/requests?limit=${LIMIT}`);
    expect(idsOf(answer)).toEqual(caller.advanceIds.slice(0, LIMIT));
  },
  async createWebhookSubscription(caller) {
    const answer = await create(caller);
    expect(answer.json.id).toBe(caller.subscriptionId);
    expect(answer.headers['idempotency-replayed']).toBe('true');
  },
  async listWebhookSubscriptions(caller) {
    expect(idsOf(await request(caller, '/v1/webhook-subscriptions'))).toEqual([caller.subscriptionId]);
  },
  async disableWebhookSubscription(caller, target) {
    if (caller === target) return;
    const path = `/v1/webhook-subscriptions/${target.subscriptionId}/disable`;
    expectProblem(await request(caller, path, { method: 'POST' }), 'WEBHOOK_SUBSCRIPTION_NOT_FOUND');
    const { json } = await request(target, '/v1/webhook-subscriptions');
    expect(json.data[0].state).not.toBe('DISABLED');
  },
  async takeUpList(caller, target) {
    for (const [path, cursor] of Object.entries(target.cursors)) {
      const answer = await request(caller, `${path}?limit=1&after=${cursor}`);
      if (caller === target) expect(answer.status).toBe(200);
      else expectProblem(answer, 'INVALID_CURSOR');
    }
  },
  async showKeyToOtherHost(caller, target) {
    const answer = await call(gateways.ports[target.environment], '/v1/refund-cases', { key: caller.key });
    if (caller.environment === target.environment) expect(idsOf(answer)).toEqual(caller.refundCaseIds);
    else expectProblem(answer, 'API_KEY_ENVIRONMENT_MISMATCH');
  },
};

it.each(Object.keys(OPERATIONS))('%s keeps all tenants apart, also at once', async (operation) => {
  await Promise.all(
    worlds.flatMap((caller) => worlds.map((target) => OPERATIONS[operation]!(caller, target))),
  );
});
