import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { DemoSignIn } from '../../local/demo-sign-in.ts';
import { DEMO_PEOPLE } from '../../local/oidc/demo-people.ts';
import { findFreePort } from '../../local/ports.ts';
import { AccountService } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { startDashboardDesk } from '../gateway/dashboard/dashboard-desk.ts';
import { CookieBrowser } from '../gateway/dashboard/sign-in/cookie-browser.ts';
import { testConfig } from '../support/house.ts';
import { temporaryDataFolder } from './temporary-data-folder.ts';

test('whom demo.json names signs in and finds the demo merchants, also after a start that went on', async () => {
  using data = temporaryDataFolder();
  const signIn = new DemoSignIn(data.folder, testConfig({ OIDC_PORT: String(await findFreePort()) }));
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = signIn.settings;
  const desk = await startDashboardDesk({
    ...{ OIDC_ISSUER: OIDC_ISSUER!, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET: OIDC_CLIENT_SECRET! },
  });
  const provider = await signIn.start(desk.baseUrl);
  const merchants = [randomUUID(), randomUUID()];
  await signIn.makeMembers(desk.transport, merchants.slice(1));
  await signIn.makeMembers(desk.transport, merchants);

  const browser = new CookieBrowser();
  const form = await browser.open(`${desk.baseUrl}/sign-in/start`);
  const page = await browser.submit(form, '', { ...signIn.access });
  expect([page.status, page.url.href]).toEqual([200, `${desk.baseUrl}/`]);
  for (const merchantId of merchants) expect(page.text).toContain(merchantId);

  const accounts = createClient(AccountService, desk.transport);
  for (const merchantId of merchants) {
    const { members } = await accounts.listMembers({ merchantId, environment: Environment.LIVE });
    const found = members.map(({ account, role }) => [account!.email, role]);
    expect(found).toEqual(DEMO_PEOPLE.map(({ email, role }) => [email, role]));
    const { account } = members[0]!;
    // Only the sign-in's own: those that made the members have ended.
    expect((await accounts.listSessions({ accountId: account!.id })).sessions).toHaveLength(1);
  }
  await provider.stop();
  await desk.close();
});
