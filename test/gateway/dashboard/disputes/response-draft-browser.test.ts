import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AccountService, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { refundsOf } from '../../../services/refunds/refund-case-fixture.ts';
import { newTenant } from '../../../support/harness.ts';
import { openWindow } from '../chromium-fixture.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';

const TEXT = 'Delivered on 20 November.';

/** A response to a dispute, written but not sent. */
async function writeResponse() {
  const fixture = await sharedDashboard();
  const { refunds, tenant, write } = refundsOf(fixture.harness, 'inProcess', newTenant());
  const dispute = { disputeId: randomUUID(), paymentIntentId: randomUUID() };
  await refunds.openDispute({ ...write(), ...dispute });
  const roles = { [tenant.merchantId]: Role.FINANCE };
  const visitor = await fixture.signIn(roles);
  const window = await openWindow(fixture.baseUrl, visitor);
  const path = `/live/${tenant.merchantId}/disputes/${dispute.disputeId}`;
  await window.page.goto(path);
  await window.page.getByLabel('Response').fill(TEXT);
  return { ...window, fixture, roles, visitor, path };
}

it('a response that is written while the session ends is still there after signing in again', async () => {
  const { context, page, fixture, roles, visitor, path } = await writeResponse();
  const accounts = createClient(AccountService, fixture.transport);
  await accounts.endAllSessions({ accountId: visitor.accountId });
  await page.getByText('Your session has ended').waitFor();
  expect(new URL(page.url()).searchParams.get('return')).toBe(path);
  const { token } = await fixture.signIn(roles);
  const url = fixture.baseUrl.replace('http:', 'https:');
  await context.addCookies([{ name: '__Host-session', value: token, url, httpOnly: true, secure: true }]);
  await page.goto(path);
  expect(await page.getByLabel('Response').inputValue()).toBe(TEXT);
});

it('a response that is sent after the session has ended is still there after signing in again', async () => {
  const { context, page, path, violations } = await writeResponse();
  const session = await context.cookies();
  await context.clearCookies();
  await page.getByRole('button', { name: 'Send response' }).click();
  await page.getByText('the form was not sent').waitFor();
  const back = new URL(page.url()).searchParams.get('return');
  expect(back).toBe(path);

  await context.addCookies(session);
  await page.goto(back!);
  expect(await page.getByLabel('Response').inputValue()).toBe(TEXT);
  await page.getByRole('button', { name: 'Send response' }).click();
  await page.getByText('Response sent.').waitFor();
  expect(await page.locator('.words').innerText()).toBe(TEXT);
  // The script runs once the whole page is read.
  await expect.poll(() => page.evaluate('Object.keys(sessionStorage)')).toEqual([]);
  await page.reload();
  expect(await page.getByText('Response sent.').count()).toBe(0);
  expect(violations).toEqual([]);
});
