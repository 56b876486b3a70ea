import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { DemoSignIn } from '../../../local/demo/demo-sign-in.ts';
import { DEMO_PEOPLE } from '../../../local/oidc/demo-people.ts';
import { findFreePort } from '../../../local/ports.ts';
import { AccountService } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { startDashboardFixture } from '../../gateway/dashboard/dashboard-fixture.ts';
import { CookieBrowser } from '../../gateway/dashboard/sign-in/cookie-browser.ts';
import { testConfig } from '../../support/harness.ts';
import { temporaryDataFolder } from '../temporary-data-folder.ts';

test('the person in demo.json signs in and sees the demo merchants, also after an interrupted first start', async () => {
  using data = temporaryDataFolder();
  const signIn = new DemoSignIn(data.folder, testConfig({ OIDC_PORT: String(await findFreePort()) }));
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = signIn.settings;
  const fixture = await startDashboardFixture({
    OIDC_ISSUER,
    OIDC_CLIENT_ID,
    OIDC_CLIENT_SECRET,
  });
  const provider = await signIn.start(fixture.baseUrl);
  const merchants = [randomUUID(), randomUUID()];
  await signIn.addMembers(fixture.transport, merchants.slice(1));
  await signIn.addMembers(fixture.transport, merchants);

  const browser = new CookieBrowser();
  const form = await browser.open(`${fixture.baseUrl}/sign-in/start`);
  const page = await browser.submit(form, '', { ...signIn.access });
  expect([page.status, page.url.href]).toEqual([200, `${fixture.baseUrl}/`]);
  for (const merchantId of merchants) expect(page.text).toContain(merchantId);

  const accounts = createClient(AccountService, fixture.transport);
  for (const merchantId of merchants) {
    const { members } = await accounts.listMembers({ merchantId, environment: Environment.LIVE });
    const found = members.map(({ account, role }) => [account!.email, role]);
    expect(found).toEqual(DEMO_PEOPLE.map(({ email, role }) => [email, role]));
    const { account } = members[0]!;
    // Only the session of this sign-in: those that accepted the invitations have ended.
    expect((await accounts.listSessions({ accountId: account!.id })).sessions).toHaveLength(1);
  }
  await provider.stop();
  await fixture.close();
});
