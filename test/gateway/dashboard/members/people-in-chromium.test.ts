import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { describe, expect, test } from 'vitest';
import { AccountService, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newTenant, newWrite } from '../../../support/harness.ts';
import { accessibilityFaults, expectToFit, openWindow } from '../chromium-fixture.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';

describe('pages about people and keys, in Chromium', async () => {
  const merchant = randomUUID();
  const email = `${'a-very-long-name-'.repeat(3)}${randomUUID()}@people.example`;
  const fixture = await sharedDashboard();
  const accounts = createClient(AccountService, fixture.transport);
  const admin = await fixture.signIn({ [merchant]: Role.ADMIN }, email);
  await fixture.signIn({ [merchant]: Role.VIEWER });
  const members = `/live/${merchant}/members`;
  await admin.submit(members, '/invite', { email: `b-${email}`, role: 'developer' });
  await accounts.inviteMember({ ...newWrite(newTenant()), email, role: Role.DEVELOPER });
  const keys = `/live/${merchant}/api-keys`;
  const scopes = ['funds:read', 'refunds:read', 'webhooks:manage'];
  for (const name of ['till', 'x'.repeat(100)]) await admin.submit(keys, '/issue', { name, scopes });
  await admin.submit(keys, '/rotate');
  await admin.submit(keys, '/revoke');

  const open = (width = 1280, locale = 'en') => openWindow(fixture.baseUrl, admin, { width, locale });

  const PAGES = ['/', 'members', 'members/invitations', 'api-keys', 'audit'];

  test('each page is accessible and fits windows of every width', async () => {
    const { page, foreign, violations } = await open(320, 'pt-BR');
    for (const path of PAGES) {
      await page.goto(path === '/' ? path : `/live/${merchant}/${path}`);
      for (const summary of await page.locator('summary').all()) await summary.click();
      expect(await page.locator('html').getAttribute('lang')).toBe('pt-BR');
      expect([path, await accessibilityFaults(page)]).toEqual([path, []]);
      // People may have names without a space, as some providers send addresses for names.
      await page.evaluate(`document.querySelector('.who a').textContent = '${'x'.repeat(100)}'`);
      await expectToFit(page, [768, 1280]);
    }
    expect(foreign).toEqual([]);
    expect(violations).toEqual([]);
  });

  test('a rejected form announces its error, at the field', async () => {
    const { page, violations } = await open(320);
    await page.goto(`/live/${merchant}/members`);
    await page.locator('#email').fill(email);
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.locator('#email-fault').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.goto(`/live/${merchant}/api-keys`);
    await page.getByLabel('Name').fill('till');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.locator('#scopes-fault').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    // The refusals themselves.
    expect(violations.filter((text) => !text.includes('422'))).toEqual([]);
  });

  test('roles can be changed and members removed by keyboard only, also without scripts', async () => {
    const somebody = await fixture.signIn({ [merchant]: Role.VIEWER });
    const team = () => accounts.listMembers({ merchantId: merchant, environment: Environment.LIVE });
    const role = async () =>
      (await team()).members.find(({ account }) => account!.id === somebody.accountId)?.role;
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await openWindow(fixture.baseUrl, admin, { javaScriptEnabled });
      await page.goto(`/sandbox/${merchant}/members`);
      const form = page.locator(`form[action$="${somebody.accountId}/role"]`);
      await form.locator('select').focus();
      await page.keyboard.press(javaScriptEnabled ? 'd' : 'v');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('status').waitFor();
      expect(await role()).toBe(javaScriptEnabled ? Role.DEVELOPER : Role.VIEWER);
    }
    const { page } = await open();
    await page.goto(`/live/${merchant}/members`);
    const row = page.locator('tr', { has: page.locator(`form[action$="${somebody.accountId}/remove"]`) });
    await row.locator('summary').press('Enter');
    await row.locator('button.danger').press('Enter');
    await page.getByRole('status').waitFor();
    expect(await role()).toBeUndefined();
  });

  test('the audit trail updates live', async () => {
    const { page } = await open();
    await page.goto(`/live/${merchant}/audit`);
    const rows = page.locator('tbody tr');
    const before = await rows.count();
    await admin.submit(`/live/${merchant}/members`, '/contact', { contact: 'ops@shop.example' });
    await expect.poll(() => rows.count(), { timeout: 40_000 }).toBe(before + 1);
  });
});
