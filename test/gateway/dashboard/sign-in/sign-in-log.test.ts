import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { findFreePort } from '../../../../local/ports.ts';
import { startHarness } from '../../../support/harness.ts';
import { dashboardOn } from '../dashboard-fixture.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { type Lies, startLyingProvider } from './lying-provider.ts';
import { SESSION } from './sign-in-fixture.ts';

test('the log has the reason of a failed sign-in, and contains no credentials', async () => {
  const provider = await startLyingProvider(await findFreePort(), 'dashboard');
  const harness = await startHarness({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'dashboard',
    OIDC_CLIENT_SECRET: 'hidden',
  });
  let log = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log += chunk;
      done();
    },
  });
  const { baseUrl, close } = await dashboardOn(harness, pino({ level: 'trace' }, stream));

  const secrets = new Set(['hidden']);
  const signInBy = async (lies: Lies) => {
    provider.lies = lies;
    const browser = new CookieBrowser();
    const page = await browser.open(`${baseUrl}/sign-in/start`);
    for (const { searchParams } of page.way) {
      for (const name of ['code', 'state', 'nonce', 'code_challenge']) {
        const value = searchParams.get(name);
        if (value) secrets.add(value);
      }
    }
    const { form, idToken } = provider.shown;
    for (const secret of [form?.get('code_verifier'), idToken]) if (secret) secrets.add(secret);
    const token = browser.cookies.get(SESSION)?.value;
    if (token) secrets.add(token);
    return page.status;
  };
  expect(await signInBy({ claims: { aud: 'another' } })).toBe(400);
  expect(await signInBy({ foreignKey: true })).toBe(400);
  expect(await signInBy({ answer: { error: 'access_denied', code: '' } })).toBe(403);
  expect(
    await signInBy({ token: { status: 400, type: 'application/json', body: '{"error":"invalid_grant"}' } }),
  ).toBe(400);
  expect(await signInBy({})).toBeLessThan(500);
  await close();
  await harness.close();
  await provider.stop();

  expect(secrets.size).toBeGreaterThan(20);
  for (const secret of secrets) expect(log).not.toContain(secret);
  const refused = log.split('\n').filter((line) => line.includes('sign-in failed'));
  expect(refused.map((line) => JSON.parse(line).fault)).toEqual([
    'untrusted',
    'untrusted',
    'denied',
    'stale',
  ]);
  expect(refused[0]).toContain('OAUTH_JWT_CLAIM_COMPARISON_FAILED');
});
