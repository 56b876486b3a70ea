import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { createTestDatabase } from '../../support/harness.ts';
import { startDashboardFixture } from './dashboard-fixture.ts';

const LIMIT = 5;

const fixture = await startDashboardFixture({
  RATE_LIMIT_ADDRESS: String(LIMIT),
  TRUSTED_PROXIES: '127.0.0.0/8',
});
afterAll(() => fixture.close());

/** Requests a path this many times at once, from an address. */
function ask(path: string, times: number, address: string, init: RequestInit = {}): Promise<Response[]> {
  const headers = { 'x-forwarded-for': address, ...init.headers };
  const one = () => fetch(new URL(path, fixture.baseUrl), { redirect: 'manual', ...init, headers });
  return Promise.all(Array.from({ length: times }, one));
}

const refusedOf = (answers: readonly Response[]) => answers.filter(({ status }) => status === 429);

test('requests of one address are limited per second, across sessions; other addresses are not affected', async () => {
  const merchant = randomUUID();
  const { token } = await fixture.signIn({ [merchant]: Role.VIEWER });
  const cookies = [token, 'x'.repeat(43)].map((value) => ({ cookie: `__Host-session=${value}` }));
  for (const [n, headers] of [{}, ...cookies].entries()) {
    const address = `203.0.113.${n}`;
    const answers = await ask(`/live/${merchant}/products`, 40, address, { headers });
    // A second may end between two of them.
    expect(refusedOf(answers).length).toBeGreaterThanOrEqual(40 - 4 * LIMIT);
    const [refused] = refusedOf(answers);
    expect(refused!.headers.get('retry-after')).toBe('1');
    expect(refused!.headers.get('cache-control')).toBe('no-store');
    expect(refused!.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await refused!.text()).toContain('Aguarde um momento');
  }
  expect(refusedOf(await ask('/sign-in', 1, '203.0.113.200'))).toEqual([]);
});

test('clients are limited separately when the proxy adds ports to their addresses', async () => {
  const answers = await ask('/sign-in', 40, '203.0.113.110:4711');
  expect(refusedOf(answers).length).toBeGreaterThanOrEqual(40 - 4 * LIMIT);
  expect(refusedOf(await ask('/sign-in', 1, '203.0.113.111:4711'))).toEqual([]);
});

test('forms and sign-ins are counted too, but not files', async () => {
  const posts = await ask('/sign-out', 40, '203.0.113.101', { method: 'POST' });
  expect(refusedOf(posts).length).toBeGreaterThanOrEqual(40 - 4 * LIMIT);
  const callbacks = await ask('/sign-in/callback?state=x', 40, '203.0.113.102');
  expect(refusedOf(callbacks).length).toBeGreaterThanOrEqual(40 - 4 * LIMIT);
  expect(refusedOf(await ask('/assets/base.css', 40, '203.0.113.103'))).toEqual([]);
});

test('what a page of another site loads is refused, and is not counted', async () => {
  const address = '203.0.113.104';
  for (const dest of ['image', 'iframe', 'empty']) {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': dest };
    const answers = await ask('/sign-in/start', 40, address, { headers });
    expect(new Set(answers.map(({ status }) => status)), dest).toEqual(new Set([403]));
  }
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' };
  expect((await ask('/sign-in', 1, address, { headers: link }))[0]!.status).toBe(200);
});

test('sign-ins of one address are limited per minute, by all dashboards together', async () => {
  const settings = {
    SIGN_IN_LIMIT_ADDRESS: '4',
    TRUSTED_PROXIES: '127.0.0.0/8',
    RATE_LIMIT_STORE: await createTestDatabase(),
  };
  const dashboards = [await startDashboardFixture(settings), await startDashboardFixture(settings)];
  const step = async (path: string, address: string, at: number) => {
    const headers = { 'x-forwarded-for': address };
    return fetch(new URL(path, dashboards[at]!.baseUrl), { redirect: 'manual', headers });
  };
  const steps = ['/sign-in/callback?state=a', '/sign-in/start'] as const;
  for (const at of [0, 1]) {
    for (const path of steps) expect((await step(path, '203.0.113.9', at)).status).not.toBe(429);
  }
  for (const at of [0, 1]) {
    const refused = await step(steps[at]!, '203.0.113.9', at);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect(await refused.text()).toContain('Muitas tentativas de entrar');
    expect((await step(steps[at]!, '203.0.113.10', at)).status).not.toBe(429);
    expect((await step('/sign-in', '203.0.113.9', at)).status).toBe(200);
  }
  await Promise.all(dashboards.map((dashboard) => dashboard.close()));
});
