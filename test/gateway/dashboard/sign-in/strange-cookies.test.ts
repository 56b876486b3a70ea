import { expect, test } from 'vitest';
import { sharedDashboard } from '../dashboard-fixture.ts';

const fixture = await sharedDashboard();

const ask = (path: string, cookie: string) =>
  fetch(`${fixture.baseUrl}${path}`, { headers: { cookie }, redirect: 'manual' });

test.for(['a b', 'é', '\t', '(,)', '__proto__', 'x'.repeat(5_000), ''])(
  'reports a callback of a sign-in that was never started as expired, for any state: %#',
  async (state) => {
    const path = `/sign-in/callback?code=x&state=${encodeURIComponent(state)}`;
    const answer = await ask(path, `__Host-sign-in-${Buffer.from(state).toString('latin1')}=1`);
    expect(answer.status).toBe(400);
    expect(answer.headers.getSetCookie()).toEqual([]);
  },
);

test('cookies that resemble sign-ins do not prevent a new one', async () => {
  const cookies = Array.from({ length: 12 }, (_, n) => `__Host-sign-in-${n} ,é=x`);
  // No provider listens at this issuer.
  expect((await ask('/sign-in/start', Buffer.from(cookies.join('; ')).toString('latin1'))).status).toBe(503);
});
