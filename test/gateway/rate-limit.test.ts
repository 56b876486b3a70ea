import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { withoutPorts } from '../../gateway/plugins/trusted-proxies.ts';
import { rateLimitAddress } from '../../gateway/rate-limits/client-address.ts';
import { RateLimit } from '../../gateway/rate-limits/rate-limit.ts';
import { RateLimitStore } from '../../gateway/rate-limits/rate-limit-store.ts';
import { RateLimits } from '../../gateway/rate-limits/rate-limits.ts';
import { ApiKeyScope } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { rpcDuration } from '../../services/platform/process/telemetry.ts';
import { query } from '../support/sql.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { type Answer, call, expectProblem } from './http-call.ts';

const PATH = '/v1/refund-cases';

const gateways = await startGateways({
  RATE_LIMIT_LIVE: '10',
  RATE_LIMIT_SANDBOX: '3',
  RATE_LIMIT_ADDRESS: '5',
  TRUSTED_PROXIES: '127.0.0.0/8',
});
afterAll(() => gateways.close());

/** Sends this many requests at once within one second. Tries again on a machine that is too busy for that. */
async function burst(count: number, send: (index: number) => Promise<Answer>, tries = 5): Promise<Answer[]> {
  await delay(1_100);
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => send(index)));
  return performance.now() - startedAt > 900 && tries > 1 ? burst(count, send, tries - 1) : answers;
}

const withStatus = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status);

const getAs = (address: string) => (key: string) =>
  `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${address}\r\nAuthorization: Bearer ${key}\r\n\r\n`;

/** The number of lookups of invalid keys. */
async function refusedQuestions(): Promise<number> {
  const { values } = await rpcDuration.get();
  const refused = values.find(
    ({ metricName, labels }) =>
      metricName?.endsWith('_count') &&
      labels.method === 'AuthenticateApiKey' &&
      labels.code === 'Unauthenticated',
  );
  return refused?.value ?? 0;
}

const leftOf = (ratelimit: unknown) => Number(/r=(\d+)/.exec(String(ratelimit))?.[1]);

describe('requests with a key', () => {
  it.each([
    ['live', 10],
    ['test', 3],
  ] as const)(
    'of %s are limited to %i a second; the next is refused until the second is over',
    async (environment, limit) => {
      const key = (await newMerchant(gateways)).keys[environment];
      const port = gateways.ports[environment];
      await call(port, PATH, { key });
      const answers = await burst(limit + 4, () => call(port, PATH, { key }));
      const allowed = withStatus(answers, 200);
      const refused = withStatus(answers, 429);
      expect([allowed.length, refused.length]).toEqual([limit, 4]);
      const left = allowed.map(({ headers }) => leftOf(headers.ratelimit));
      expect(left.sort((a, b) => b - a)).toEqual(
        Array.from({ length: limit }, (_, used) => limit - 1 - used),
      );
      for (const answer of answers) expect(answer.headers['ratelimit-policy']).toBe(`"key";q=${limit};w=1`);
      for (const answer of refused) {
        expectProblem(answer, 'RATE_LIMITED', `More than ${limit} requests`);
        expect(answer.headers['retry-after']).toBe('1');
        expect(answer.headers.ratelimit).toBe('"key";r=0;t=1');
      }
      await delay(Number(refused[0]!.headers['retry-after']) * 1_000 + 100);
      expect((await call(port, PATH, { key })).status).toBe(200);
    },
  );

  it('do not count against another key or the other environment', async () => {
    const [one, other] = [await newMerchant(gateways), await newMerchant(gateways)];
    await burst(20, () => call(gateways.ports.live, PATH, { key: one.keys.live }));
    expect((await call(gateways.ports.live, PATH, { key: other.keys.live })).status).toBe(200);
    expect((await call(gateways.ports.test, PATH, { key: one.keys.test })).status).toBe(200);
  });
});

describe('a response to a request with a key has its quota in the headers', () => {
  it.each([
    ['GET', `${PATH}?limit=0`, undefined, 'INVALID_REQUEST'],
    ['GET', `${PATH}?after=abc`, undefined, 'INVALID_CURSOR'],
    ['GET', `/v1/products/${randomUUID()}`, undefined, 'PRODUCT_NOT_FOUND'],
    ['POST', '/v1/webhook-subscriptions', 'text', 'UNSUPPORTED_MEDIA_TYPE'],
    ['POST', '/v1/webhook-subscriptions', { url: 'x'.repeat(70_000) }, 'PAYLOAD_TOO_LARGE'],
    ['POST', '/v1/webhook-subscriptions', {}, 'IDEMPOTENCY_KEY_MISSING'],
  ] as const)('%s %s has it too, although it is an error', async (method, path, body, code) => {
    const key = (await newMerchant(gateways)).keys.live;
    const answer = await call(gateways.ports.live, path, { method, key, body });
    expectProblem(answer, code);
    expect(answer.headers).toMatchObject({
      'ratelimit-policy': '"key";q=10;w=1',
      ratelimit: '"key";r=9;t=1',
    });
    expect(answer.headers['retry-after']).toBeUndefined();
  });

  it('including one without the scope: it counts, and stays 403 when the quota is used up', async () => {
    const { key } = await gateways.issueKey(randomUUID(), Environment.LIVE, [ApiKeyScope.FUNDS_READ]);
    await call(gateways.ports.live, PATH, { key });
    const answers = await burst(14, () => call(gateways.ports.live, PATH, { key }));
    for (const answer of answers) expectProblem(answer, 'INSUFFICIENT_SCOPE', 'refunds:read');
    const left = answers.map(({ headers }) => leftOf(headers.ratelimit)).sort((a, b) => b - a);
    expect(left).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0]);
    for (const { headers } of answers) expect(headers['retry-after']).toBeUndefined();
    expectProblem(await call(gateways.ports.live, '/v1/funds/releases', { key }), 'RATE_LIMITED');
  });
});

it('by default, the limits per second are 100 for a live key, 25 for a sandbox key, 50 without a key', async () => {
  const standard = await startGateways({ SERVICES: 'refunds,api-keys' });
  try {
    const { keys } = await newMerchant(standard);
    await call(standard.ports.live, PATH, { key: keys.live });
    await call(standard.ports.test, PATH, { key: keys.test });
    const live = await burst(130, () => call(standard.ports.live, PATH, { key: keys.live }));
    const sandbox = await burst(40, () => call(standard.ports.test, PATH, { key: keys.test }));
    const without = await burst(70, () => call(standard.ports.live, PATH));
    expect([withStatus(live, 200).length, withStatus(live, 429).length]).toEqual([100, 30]);
    expect([withStatus(sandbox, 200).length, withStatus(sandbox, 429).length]).toEqual([25, 15]);
    expect([withStatus(without, 401).length, withStatus(without, 429).length]).toEqual([50, 20]);
  } finally {
    await standard.close();
  }
});

describe('requests without a valid key', () => {
  it.concurrent('are limited by address, with Retry-After in every refusal', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    await burst(20, (index) => call(gateways.ports.live, PATH, { headers, ...(index % 2 && { key: 'x' }) }));
    const refused = await call(gateways.ports.live, PATH, { headers });
    expectProblem(refused, 'RATE_LIMITED', 'without a valid key');
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.headers['ratelimit-policy']).toBe('"address";q=5;w=1');
    const elsewhere = await call(gateways.ports.live, PATH, {
      headers: { 'x-forwarded-for': '203.0.113.8' },
    });
    expectProblem(elsewhere, 'API_KEY_MISSING');
  });

  it.concurrent('are limited by address even if the proxy adds the port of each connection', async () => {
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    await burst(20, (index) => call(gateways.ports.live, PATH, from(`203.0.113.16:${4_000 + index}`)));
    expectProblem(await call(gateways.ports.live, PATH, from('203.0.113.16')), 'RATE_LIMITED');
    expectProblem(await call(gateways.ports.live, PATH, from('203.0.113.17:4000')), 'API_KEY_MISSING');
    expectProblem(await call(gateways.ports.live, PATH, from('[2001:db8::1]:4000')), 'API_KEY_MISSING');
  });

  it('cost time in proportion to their X-Forwarded-For, whatever it contains', () => {
    const startedAt = performance.now();
    for (const text of ['[', '1.', '1.1.1.1', '[1', ':']) withoutPorts(`${text.repeat(200_000)}:`);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it.concurrent('do not count against the quota of a cached key from the same address', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const key = (await newMerchant(gateways)).keys.live;
    expect((await call(gateways.ports.live, PATH, { key, headers })).status).toBe(200);
    await burst(20, () => call(gateways.ports.live, PATH, { headers }));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(gateways.ports.live, PATH, { key, headers })),
    );
    expect(withStatus(answers, 200)).toHaveLength(10);
  });

  it.concurrent('do not count against the quota of a key that must be looked up again', async () => {
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

  it.concurrent('are refused exactly beyond the limit, with any keys, even concurrently', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.12' };
    for (const key of [() => newApiKey('live'), () => 'hello']) {
      const answers = await burst(20, () => call(gateways.ports.live, PATH, { headers, key: key() }));
      expect([withStatus(answers, 401).length, withStatus(answers, 429).length]).toEqual([5, 15]);
      for (const answer of answers) expect(answer.headers['ratelimit-policy']).toBe('"address";q=5;w=1');
      for (const answer of withStatus(answers, 429)) expect(answer.headers['retry-after']).toBe('1');
    }
  });

  it.concurrent('concurrent requests with one new key cause one lookup', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.15' };
    const key = (await newMerchant(gateways)).keys.live;
    const answers = await burst(10, () => call(gateways.ports.live, PATH, { headers, key }));
    expect(withStatus(answers, 200)).toHaveLength(10);
  });

  it.concurrent('do not prevent the first use of a valid key, unless they guess keys', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.13' };
    const { keys } = await newMerchant(gateways);
    await burst(20, (index) =>
      call(gateways.ports.live, PATH, { headers, ...(index % 2 && { key: 'hello' }) }),
    );
    expectProblem(await call(gateways.ports.live, PATH, { headers }), 'RATE_LIMITED');
    expect((await call(gateways.ports.live, PATH, { headers, key: keys.live })).status).toBe(200);

    await burst(20, () => call(gateways.ports.test, PATH, { headers, key: newApiKey('test') }));
    const refused = await call(gateways.ports.test, PATH, { headers, key: keys.test });
    expectProblem(refused, 'RATE_LIMITED', 'without a valid key');
    await delay(Number(refused.headers['retry-after']) * 1_000);
    expect((await call(gateways.ports.test, PATH, { headers, key: keys.test })).status).toBe(200);
  });

  it('cause no lookups beyond the limit, also concurrently', async () => {
    const guesses = Array.from({ length: 50 }, () => newApiKey('live'));
    // Each twice: a guess that is refused makes no way for itself.
    const flood = guesses.flatMap((key) => [key, key]).map(getAs('203.0.113.14'));
    const before = await refusedQuestions();
    const socket = connect(gateways.ports.live, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(flood.join(''));
    let answers = '';
    for await (const text of socket.setEncoding('latin1')) {
      answers += text;
      if (answers.match(/HTTP\/1\.1 4(01|29) /g)?.length === flood.length) break;
    }
    // A machine that is too busy takes two windows for them.
    expect((await refusedQuestions()) - before).toBeLessThanOrEqual(2 * 5);
  });
});

describe('the address that is counted', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '20010db800010002'],
    ['2001:db8:1:2::9', '20010db800010002'],
    ['2001:db8:1:3::9', '20010db800010003'],
    ['fe80::1%eth0', 'fe80000000000000'],
    ['unknown', 'unknown'],
    ['x'.repeat(300), 'unknown'],
    [undefined, 'unknown'],
  ])('%s is %s', (address, counted) => {
    expect(rateLimitAddress(address)).toBe(counted);
  });
});

it('a limit counts no requests of a window that is over but not deleted yet, as on a busy machine', async () => {
  const limit = new RateLimit('key', new RateLimiterMemory({ points: 1, duration: 1 }));
  await limit.consume('a');
  expect((await limit.peek('a', 0)).allowed).toBe(false);
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 1_000);
  onTestFinished(() => void vi.restoreAllMocks());
  expect((await limit.peek('a', 0)).allowed).toBe(true);
});

it('a store deletes all past counts in batches', async () => {
  const url = gateways.harness.databaseUrl;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const logger = pino({ level: 'silent' });
  const store = new RateLimitStore({ url, host: 'live', preparedStatements: false, logger });
  onTestFinished(() => store.close());
  const fill = (name: string, expires: number, count: number) =>
    `insert into rate_limit.request_count select '${name}' || n, 1, ${expires} from generate_series(1, ${count}) n`;
  await query(url, fill('old', Date.now() - 11_000, 25_000), fill('new', Date.now() + 1_000, 3));
  vi.advanceTimersByTime(10_000);
  const kept = () => query(url, 'select key from rate_limit.request_count order by key');
  await expect.poll(kept).toEqual([{ key: 'new1' }, { key: 'new2' }, { key: 'new3' }]);
});

it("counting in the services' database requires DATABASE_URL", () => {
  const config = { ...gateways.harness.config, RATE_LIMIT_STORE: 'postgresql', DATABASE_URL: undefined };
  const logger = pino({ level: 'silent' });
  expect(() => new RateLimits({ environment: 'live', config, logger })).toThrow(
    'RATE_LIMIT_STORE=postgresql requires DATABASE_URL',
  );
});
