import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { expect, onTestFinished, test } from 'vitest';
import { createDashboard } from '../../../../gateway/dashboard/dashboard.ts';
import { csrfTokenOf } from '../../../../gateway/dashboard/session/session-cookie.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { testConfig } from '../../../support/harness.ts';
import { SESSION } from './sign-in-fixture.ts';

/** A transport to services that are unavailable. */
const unavailable: Transport = {
  unary: () => Promise.reject(new ConnectError('unavailable', Code.Unavailable)),
  stream: () => Promise.reject(new ConnectError('unavailable', Code.Unavailable)),
};

async function dashboardWithoutServices() {
  const config = testConfig({ OIDC_ISSUER: 'https://issuer.invalid' });
  const dashboard = await createDashboard({ config, transport: unavailable, logger: createLogger('fatal') });
  onTestFinished(() => dashboard.close());
  return dashboard;
}

test('signing out while the services are unavailable shows a warning, and clears the cookie', async () => {
  const dashboard = await dashboardWithoutServices();
  const token = 'a'.repeat(43);
  const answer = await dashboard.inject({
    method: 'POST',
    url: '/sign-out',
    cookies: { [SESSION]: token },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ _csrf: csrfTokenOf(token) }).toString(),
  });
  expect(answer.statusCode).toBe(503);
  expect(answer.cookies).toContainEqual(expect.objectContaining({ name: SESSION, value: '', maxAge: 0 }));
});

test('a form of another site, which comes without the cookie, does not clear it', async () => {
  const dashboard = await dashboardWithoutServices();
  const answer = await dashboard.inject({ method: 'POST', url: '/sign-out' });
  expect(answer.headers.location).toBe('/signed-out');
  expect(answer.cookies).toEqual([]);
});
