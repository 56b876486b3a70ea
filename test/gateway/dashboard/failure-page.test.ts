import { randomUUID } from 'node:crypto';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { parse } from 'node-html-parser';
import { expect, test } from 'vitest';
import { createDashboard } from '../../../gateway/dashboard/dashboard.ts';
import { csrfTokenOf } from '../../../gateway/dashboard/session/session-cookie.ts';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { newKey, testConfig } from '../../support/harness.ts';
import { scrape } from '../../support/scrape.ts';
import { sharedDashboard } from './dashboard-fixture.ts';

const fixture = await sharedDashboard();

/** The links on the page that explains a failure. */
async function linksFor(referer: string): Promise<(string | undefined)[]> {
  const answer = await fetch(`${fixture.baseUrl}/nowhere`, { headers: { referer } });
  expect(answer.status).toBe(404);
  const links = parse(await answer.text()).querySelectorAll('main a');
  return links.map((link) => link.getAttribute('href'));
}

test('a failure page links to the page before it', async () => {
  expect(await linksFor(`${fixture.baseUrl}/account?page=x`)).toEqual(['/account?page=x', '/']);
});

test.for([
  'https://evil.example/x',
  '//evil.example/x',
  '/\\evil.example/x',
  '/.//evil.example/x',
  '/nowhere',
  '',
])('a failure page links to this host only, not to %j', async (path) => {
  expect(await linksFor(path.startsWith('https:') ? path : `${fixture.baseUrl}${path}`)).toEqual(['/']);
});

test.for([
  ['help@pay.example', 'mailto:help@pay.example', 'help@pay.example'],
  ['https://help.pay.example/merchants', 'https://help.pay.example/merchants', 'help.pay.example'],
  ['', undefined, undefined],
])('a page ends with the support contact %j, if there is one', async ([contact, address, text]) => {
  const config = testConfig({ OIDC_ISSUER: 'https://issuer.invalid', SUPPORT_CONTACT: contact! });
  const { transport } = fixture;
  const dashboard = await createDashboard({ config, transport, logger: createLogger('fatal') });
  const { body } = await dashboard.inject({ url: '/nowhere' });
  const link = parse(body).querySelector('footer a');
  expect([link?.getAttribute('href'), link?.text]).toEqual([address, text]);
  await dashboard.close();
});

test('a form whose effect is unknown says how to find out, counts as failed, and has one effect when it is sent again', async () => {
  const merchant = randomUUID();
  const { token } = await fixture.signIn({ [merchant]: Role.DEVELOPER });
  let isAway = true;
  const transport: Transport = {
    ...fixture.transport,
    unary: async (method, ...rest) => {
      const response = await fixture.transport.unary(method, ...rest);
      if (isAway && method.name === 'IssueApiKey') throw new ConnectError('too late', Code.DeadlineExceeded);
      return response;
    },
  };
  const config = testConfig({ OIDC_ISSUER: 'https://issuer.invalid' });
  const dashboard = await createDashboard({ config, transport, logger: createLogger('fatal') });
  const request = { cookies: { '__Host-session': token }, headers: { 'accept-language': 'en' } };
  const payload = new URLSearchParams({
    _csrf: csrfTokenOf(token),
    _key: newKey(),
    name: 'till',
    scopes: 'funds:read',
  }).toString();
  const send = () =>
    dashboard.inject({
      method: 'POST',
      url: `/live/${merchant}/api-keys/issue`,
      cookies: request.cookies,
      headers: { ...request.headers, 'content-type': 'application/x-www-form-urlencoded' },
      payload,
    });
  const failures = async () => (await scrape())('payments_dashboard_failures_total')!;
  const before = await failures();
  const answer = await send();
  expect(answer.statusCode).toBe(504);
  expect(await failures()).toBe(before + 1);
  expect(answer.body).toContain('The form may have taken effect all the same.');
  isAway = false;
  expect((await send()).statusCode).toBe(200);
  expect(await failures()).toBe(before + 1);
  const list = await dashboard.inject({ ...request, url: `/live/${merchant}/api-keys` });
  expect(parse(list.body).querySelectorAll('.key')).toHaveLength(1);
  await dashboard.close();
});
