import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countedAddress } from '../../gateway/client-address.ts';
import { RateLimit } from '../../gateway/rate-limit.ts';
import { type GatewayHouse, newMerchant, startGateways } from './gateway-house.ts';
import { type Answer, call, expectProblem } from './http-call.ts';

const PATH = '/v1/refund-cases';

let gateways: GatewayHouse;
beforeAll(async () => {
  gateways = await startGateways({
    ...{ RATE_LIMIT_LIVE: '10', RATE_LIMIT_SANDBOX: '3', RATE_LIMIT_ADDRESS: '5' },
    ...{ SERVICES: 'refunds,api-keys', TRUSTED_PROXIES: '127.0.0.0/8' },
  });
});
afterAll(() => gateways.close());

/** So many requests at once, in a second of their own. */
async function burst(count: number, send: (index: number) => Promise<Answer>): Promise<Answer[]> {
  await delay(1_100);
  return Promise.all(Array.from({ length: count }, (_, index) => send(index)));
}

const withStatus = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status);

describe('requests with a key', () => {
  it.each([
    ['live', 10],
    ['test', 3],
  ] as const)('of %s have %i a second; the next is refused until it is over', async (environment, limit) => {
    const key = (await newMerchant(gateways)).keys[environment];
    const port = gateways.ports[environment];
    await call(port, PATH, { key });
    const answers = await burst(limit + 4, () => call(port, PATH, { key }));
    const allowed = withStatus(answers, 200);
    const refused = withStatus(answers, 429);
    expect([allowed.length, refused.length]).toEqual([limit, 4]);
    const left = allowed.map(({ headers }) => Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1]));
    expect(left.sort((a, b) => b - a)).toEqual(Array.from({ length: limit }, (_, used) => limit - 1 - used));
    for (const answer of answers) expect(answer.headers['ratelimit-policy']).toBe(`"key";q=${limit};w=1`);
    for (const answer of refused) {
      expectProblem(answer, 'RATE_LIMITED', `More than ${limit} requests`);
      expect(answer.headers['retry-after']).toBe('1');
      expect(answer.headers.ratelimit).toBe('"key";r=0;t=1');
    }
    await delay(Number(refused[0]!.headers['retry-after']) * 1_000 + 100);
    expect((await call(port, PATH, { key })).status).toBe(200);
  });

  it('do not take from another key or the other environment', async () => {
    const [one, other] = [await newMerchant(gateways), await newMerchant(gateways)];
    await burst(20, () => call(gateways.ports.live, PATH, { key: one.keys.live }));
    expect((await call(gateways.ports.live, PATH, { key: other.keys.live })).status).toBe(200);
    expect((await call(gateways.ports.test, PATH, { key: one.keys.test })).status).toBe(200);
  });
});

describe('requests without a good key', () => {
  it('are limited by address, and never without Retry-After', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    await burst(20, (index) =>
      call(gateways.ports.live, PATH, { headers, key: index % 2 ? 'x' : undefined! }),
    );
    const refused = await call(gateways.ports.live, PATH, { headers });
    expectProblem(refused, 'RATE_LIMITED', 'without a valid key');
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.headers['ratelimit-policy']).toBe('"address";q=5;w=1');
    const elsewhere = await call(gateways.ports.live, PATH, {
      headers: { 'x-forwarded-for': '203.0.113.8' },
    });
    expectProblem(elsewhere, 'API_KEY_MISSING');
  });

  it('do not take from the quota of a key that is known, although it comes from the same address', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const key = (await newMerchant(gateways)).keys.live;
    expect((await call(gateways.ports.live, PATH, { key, headers })).status).toBe(200);
    await burst(20, () => call(gateways.ports.live, PATH, { headers }));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(gateways.ports.live, PATH, { key, headers })),
    );
    expect(withStatus(answers, 200)).toHaveLength(10);
  });

  it('nor when that key has to be checked again', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.11' };
    const key = (await newMerchant(gateways)).keys.live;
    expect((await call(gateways.ports.live, PATH, { key, headers })).status).toBe(200);
    await delay(4_100);
    const strangers = Array.from({ length: 20 }, () => call(gateways.ports.live, PATH, { headers }));
    await Promise.all(strangers);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(gateways.ports.live, PATH, { key, headers })),
    );
    expect(withStatus(answers, 200)).toHaveLength(10);
  });

  it('count the documentation too', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.10' };
    const answers = await burst(8, () => call(gateways.ports.live, '/docs/errors', { headers }));
    expect(withStatus(answers, 200)).toHaveLength(5);
    for (const answer of withStatus(answers, 429)) expect(answer.headers['retry-after']).toBe('1');
  });
});

describe('an address that is counted', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '20010db800010002'],
    ['2001:db8:1:2::9', '20010db800010002'],
    ['2001:db8:1:3::9', '20010db800010003'],
  ])('%s is %s', (address, counted) => {
    expect(countedAddress(address)).toBe(counted);
  });
});

it('a limit forgets a second’s keys together, so that no flood of keys stays in memory', async () => {
  const limit = new RateLimit('key', 2);
  const key = randomUUID();
  expect([limit.take(key), limit.take(key), limit.take(key), limit.take(key)]).toEqual([1, 0, -1, -1]);
  expect(limit.take(randomUUID())).toBe(1);
  await delay(1_050);
  expect(limit.take(key)).toBe(1);
});
