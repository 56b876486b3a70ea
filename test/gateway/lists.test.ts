import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { advanceRequestList } from '../services/advances/advance-request-list.ts';
import { releaseList } from '../services/funds/releases/release-list.ts';
import { refundCaseList } from '../services/refunds/refund-case-list.ts';
import { subscriptionList } from '../services/webhooks/subscriptions/subscription-list.ts';
import { newTenant, type TestHarness } from '../support/harness.ts';
import { fewFilters } from '../support/list-filters.ts';
import { LIST_SETTINGS } from '../support/list-suite.ts';
import {
  fittingRows,
  type ListFilters,
  type ListFixture,
  type ListRequest,
  type ListSubject,
  maxLimitOf,
  walk,
} from '../support/list-walk.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { call } from './http-call.ts';
import { seedMerchant } from './seed-merchant.ts';

const WEBHOOKS = '/v1/webhook-subscriptions';
const MAX = 9_007_199_254_740_991n;

const gateways = await startGateways({
  ...LIST_SETTINGS,
  REFUND_VOLUME_LIMIT_24H: MAX.toString(),
  RATE_LIMIT_LIVE: '100000',
  RATE_LIMIT_SANDBOX: '100000',
  SERVICES: 'refunds,catalog,funds,advances,api-keys,webhooks',
});
afterAll(() => gateways.close());

async function newShop() {
  const { merchantId, keys } = await newMerchant(gateways);
  const seed = seedMerchant(gateways.harness.transports.inProcess, merchantId, Environment.LIVE);
  const get = (path: string) => call(gateways.ports.live, path, { key: keys.live });
  return { seed, get };
}

const idOf = ({ id }: Record<string, string>) => id!;
const releaseOf = ({ date, status }: Record<string, string>) => `${date} ${status}`;

/** A list as merchants read it, over HTTP; its rows are written over RPC. */
function overHttp(subject: ListSubject, path: string, keyOf = idOf): ListSubject {
  return {
    ...subject,
    async fixtureOf(tenant) {
      const fixture = await subject.fixtureOf(tenant);
      const { key } = await gateways.issueKey(tenant.merchantId, tenant.environment);
      const port = gateways.ports[tenant.environment === Environment.LIVE ? 'live' : 'test'];
      const list = async ({ filters = {}, limit, after }: ListRequest) => {
        const bounds = { ...(limit && { limit: String(limit) }), ...(after !== undefined && { after }) };
        const query = new URLSearchParams({ ...filters, ...bounds });
        const answer = await call(port, `${path}?${query}`, { key });
        expect(answer.status).toBe(200);
        const { data, nextCursor, hasMore = nextCursor !== undefined } = answer.json;
        expect(hasMore).toBe(typeof nextCursor === 'string');
        return { keys: data.map(keyOf), next: nextCursor ?? undefined };
      };
      return { ...fixture, list };
    },
  };
}

const PLACES = 6;
/** Filters that only the RPC has. */
const NONE = {};

/** What HTTP adds to a list. The list suite checks the rest over RPC, error-table and tenancy.test.ts which cursors are refused. */
function describeHttpList(
  path: string,
  listOf: (harness: TestHarness) => ListSubject,
  rows = 12,
  keyOf = idOf,
) {
  describe(`GET ${path}`, () => {
    let subject: ListSubject;
    let fixture: ListFixture;
    const keysOf = async (filters: ListFilters = {}) =>
      (await fittingRows(subject, fixture, filters)).map(({ key }) => key);
    beforeAll(async () => {
      subject = overHttp(listOf(gateways.harness), path, keyOf);
      fixture = await subject.fixtureOf(newTenant());
      for (let n = 0; n < rows; n += 1) await fixture.insert(n % PLACES);
      for (let n = 0; n < 4; n += 1) {
        const now = await fittingRows(subject, fixture);
        await fixture.change(now[(n * 5) % now.length]!, n);
      }
    });

    it('returns all rows in order, in pages of any size', async () => {
      const keys = await keysOf();
      expect(keys.length).toBeGreaterThan(5);
      for (const limit of [1, 5, maxLimitOf(subject), undefined]) {
        expect(await walk(fixture, {}, limit)).toEqual(keys);
      }
    });

    it('returns the rows that match each filter', async () => {
      for (const filters of fewFilters(subject, 1)) {
        expect([filters, await walk(fixture, filters, 3)]).toEqual([filters, await keysOf(filters)]);
      }
    });
  });
}

describeHttpList('/v1/refund-cases', (harness) => {
  const { filters, ...list } = refundCaseList(harness);
  const { providerRefundId: _overRpcOnly, blockedOnly: _overRpcToo, ...overHttp } = filters;
  return { ...list, filters: overHttp };
});
describeHttpList('/v1/funds/releases', releaseList, 12, releaseOf);
describeHttpList('/v1/advance/requests', (harness) => ({ ...advanceRequestList(harness), filters: NONE }));
// More than a page holds by default.
describeHttpList(WEBHOOKS, (harness) => ({ ...subscriptionList(harness), filters: NONE }), 52);

describe('funds', () => {
  it.each(['0001-01', '9999-12'])('the calendar of %s is empty', async (month) => {
    const { get } = await newShop();
    const answer = await get(`/v1/funds/releases/calendar?month=${month}`);
    expect(answer.json).toEqual({ days: [], month, timezone: 'America/Sao_Paulo' });
  });

  it.each(['from=0001-01-01', 'to=9999-12-31', 'from=2024-02-29&to=2024-02-29'])(
    'releases of %s are a valid request',
    async (query) => {
      const { get } = await newShop();
      expect((await get(`/v1/funds/releases?${query}`)).json.data).toEqual([]);
    },
  );
});

it('the last page of advance requests has no nextCursor; the last page of other lists has null', async () => {
  const { get } = await newShop();
  expect((await get('/v1/advance/requests')).text).toBe('{"data":[]}');
  for (const path of ['/v1/refund-cases', '/v1/funds/releases', WEBHOOKS]) {
    expect((await get(path)).json).toMatchObject({ data: [], hasMore: false, nextCursor: null });
  }
});

it('the largest amount passes through the whole system exactly', async () => {
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
