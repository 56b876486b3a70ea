import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundInitiator } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { type GatewayHouse, newMerchant, startGateways } from './gateway-house.ts';
import { call, expectProblem } from './http-call.ts';
import { seedMerchant } from './seed-merchant.ts';

const MAX = 9_007_199_254_740_991n;

let gateways: GatewayHouse;
beforeAll(async () => {
  gateways = await startGateways({
    ...{ RATE_LIMIT_LIVE: '100000', REFUND_VOLUME_LIMIT_24H: MAX.toString() },
    SERVICES: 'refunds,catalog,funds,advances,api-keys',
  });
});
afterAll(() => gateways.close());

async function newShop() {
  const { merchantId, keys } = await newMerchant(gateways);
  const seed = seedMerchant(gateways.house.transports.inProcess, merchantId, Environment.LIVE);
  const get = (path: string) => call(gateways.ports.live, path, { key: keys.live });
  /** All items, page by page. */
  const walk = async (path: string, query: Record<string, string> = {}) => {
    const items: { id: string; date: string }[] = [];
    for (let after: string | null | undefined; ; ) {
      const search = new URLSearchParams({ ...query, ...(after && { after }) });
      const { status, json } = await get(`${path}?${search}`);
      expect(status).toBe(200);
      items.push(...json.data);
      if ('hasMore' in json) expect(json.hasMore).toBe(json.nextCursor !== null);
      after = json.nextCursor;
      if (!after) return items;
    }
  };
  return { seed, get, walk };
}

describe('refund cases', () => {
  it('come newest first, whatever the size of the page, and by default fifty of them', async () => {
    const { seed, get, walk } = await newShop();
    const ids: string[] = [];
    for (let n = 0; n < 52; n += 1) ids.unshift((await seed.refundCase()).id);
    for (const limit of ['1', '7', '52', '100']) {
      expect((await walk('/v1/refund-cases', { limit })).map(({ id }) => id)).toEqual(ids);
    }
    const first = await get('/v1/refund-cases');
    expect(first.json.data).toHaveLength(50);
    expect(first.json.hasMore).toBe(true);
  });

  it('are filtered by all filters together; ids are read in either case', async () => {
    const { seed, get } = await newShop();
    const [orderId, paymentIntentId] = [randomUUID(), randomUUID()];
    const wanted = await seed.refundCase({ orderId, paymentIntentId, initiator: RefundInitiator.CUSTOMER });
    await seed.refundCase({ orderId });
    await seed.refundCase();
    const idsOf = async (query: string) =>
      (await get(`/v1/refund-cases?${query}`)).json.data.map(({ id }: { id: string }) => id);
    expect(await idsOf(`orderId=${orderId.toUpperCase()}`)).toHaveLength(2);
    expect(await idsOf(`paymentIntentId=${paymentIntentId.toUpperCase()}`)).toEqual([wanted.id]);
    expect(await idsOf('initiator=CUSTOMER')).toEqual([wanted.id]);
    expect(await idsOf('status=MERCHANT_REVIEW')).toEqual([wanted.id]);
    expect(await idsOf(`status=MERCHANT_REVIEW&initiator=CUSTOMER&orderId=${orderId}`)).toEqual([wanted.id]);
    expect(await idsOf(`initiator=MERCHANT&paymentIntentId=${paymentIntentId}`)).toEqual([]);
  });

  it('have cursors that are bound to merchant, environment and filters, but not to the limit', async () => {
    const [shop, other] = [await newShop(), await newShop()];
    const orderId = randomUUID();
    for (let n = 0; n < 3; n += 1) await shop.seed.refundCase({ orderId });
    const first = await shop.get(`/v1/refund-cases?limit=1&orderId=${orderId}`);
    const after: string = first.json.nextCursor;
    expect(after.length).toBeLessThanOrEqual(200);
    const upper = await shop.get(`/v1/refund-cases?limit=2&orderId=${orderId.toUpperCase()}&after=${after}`);
    expect(upper.json.data).toHaveLength(2);
    const flipped = after.slice(0, -1) + (after.endsWith('A') ? 'B' : 'A');
    for (const refused of [
      await shop.get(`/v1/refund-cases?after=${after}`),
      await shop.get(`/v1/refund-cases?orderId=${orderId}&status=PROCESSING&after=${after}`),
      await shop.get(`/v1/refund-cases?orderId=${orderId}&after=${flipped}`),
      await shop.get(`/v1/advance/requests?after=${after}`),
      await other.get(`/v1/refund-cases?orderId=${orderId}&after=${after}`),
    ]) {
      expectProblem(refused, 'INVALID_CURSOR', "'after'");
    }
  });
});

describe('funds', () => {
  it('releases come by date and status, within bounds that count, and agree with the calendar', async () => {
    const { seed, get, walk } = await newShop();
    await seed.sale(1_200n, 12);
    await seed.sale(500n, 0);
    const rows = await walk('/v1/funds/releases', { limit: '5' });
    expect(rows).toHaveLength(13);
    expect(rows.map(({ date }) => date)).toEqual(rows.map(({ date }) => date).sort());
    const [second, fourth] = [rows[1]!.date, rows[3]!.date];
    expect(await walk('/v1/funds/releases', { from: second, to: fourth })).toEqual(rows.slice(1, 4));
    expect(await walk('/v1/funds/releases', { status: 'RELEASED' })).toEqual(rows.slice(0, 1));
    const month = second.slice(0, 7);
    const calendar = await get(`/v1/funds/releases/calendar?month=${month}`);
    expect(calendar.json).toMatchObject({ month, timezone: 'America/Sao_Paulo' });
    const inMonth = rows.filter(({ date }) => date.startsWith(month)).map(({ date }) => date);
    expect(calendar.json.days.map(({ date }: { date: string }) => date)).toEqual(inMonth);
    const current = await get('/v1/funds/releases/calendar');
    expect(current.json.month).toBe(rows[0]!.date.slice(0, 7));
  });

  it.each(['0001-01', '9999-12'])('the calendar of %s is empty', async (month) => {
    const { get } = await newShop();
    const answer = await get(`/v1/funds/releases/calendar?month=${month}`);
    expect(answer.json).toEqual({ days: [], month, timezone: 'America/Sao_Paulo' });
  });

  it.each(['from=0001-01-01', 'to=9999-12-31', 'from=2024-02-29&to=2024-02-29'])(
    'releases of %s are no error',
    async (query) => {
      const { get } = await newShop();
      expect((await get(`/v1/funds/releases?${query}`)).json.data).toEqual([]);
    },
  );
});

describe('advance requests', () => {
  it('come newest first, without nextCursor on the last page and without hasMore', async () => {
    const { seed, get, walk } = await newShop();
    await seed.sale(1_200n, 3);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.unshift((await seed.advance(400n)).id);
    expect((await walk('/v1/advance/requests', { limit: '2' })).map(({ id }) => id)).toEqual(ids);
    const all = await get('/v1/advance/requests');
    expect(Object.keys(all.json)).toEqual(['data']);
  });
});

it('the largest amount goes through the whole house without losing a centavo', async () => {
  const { seed, get } = await newShop();
  const exactly = `:${MAX}`;
  await seed.refundCase({ amountMinor: MAX });
  expect((await get('/v1/refund-cases')).text).toContain(`"amount"${exactly},`);
  const productId = await seed.product(MAX);
  expect((await get(`/v1/products/${productId.toUpperCase()}`)).text).toContain(`"amountMinor"${exactly},`);
  await seed.sale(MAX, 1);
  const releases = await get('/v1/funds/releases');
  expect(releases.text).toContain(`"originalAmountMinor"${exactly},`);
  expect(releases.text).toContain(`"scheduledAmountMinor"${exactly},`);
  const month = releases.json.data[0].date.slice(0, 7);
  const calendar = await get(`/v1/funds/releases/calendar?month=${month}`);
  expect(calendar.text).toContain(`"scheduledAmountMinor"${exactly},`);
  const request = await seed.advance();
  const advances = await get('/v1/advance/requests');
  expect(advances.text).toContain(`"amount"${exactly},`);
  expect(advances.text).toContain(`"netAmount":${MAX - request.feeAmountMinor},`);
});
