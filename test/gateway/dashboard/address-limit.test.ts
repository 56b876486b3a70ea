import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { type DashboardFixture, startDashboardFixture } from './dashboard-fixture.ts';

const LIMIT = 5;

let fixture: DashboardFixture;
beforeAll(async () => {
  fixture = await startDashboardFixture({
    RATE_LIMIT_ADDRESS: String(LIMIT),
    TRUSTED_PROXIES: '127.0.0.0/8',
  });
});
afterAll(() => fixture.close());

/** Asks for a path so often at once, from an address. */
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

test('forms and sign-ins are counted too, but not files', async () => {
  const posts = await ask('/sign-out', 40, '203.0.113.101', { method: 'POST' });
  expect(refusedOf(posts).length).toBeGreaterThanOrEqual(40 - 4 * LIMIT);
  const callbacks = await ask('/sign-in/callback?state=x', 40, '203.0.113.102');
  expect(refusedOf(callbacks).length).toBeGreaterThanOrEqual(40 - 4 * LIMIT);
  expect(refusedOf(await ask('/assets/base.css', 40, '203.0.113.103'))).toEqual([]);
});
