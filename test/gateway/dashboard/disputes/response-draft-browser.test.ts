import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { refundsOf } from '../../../services/refunds/refund-case-fixture.ts';
import { sharedChromium } from '../../../support/chromium.ts';
import { newTenant } from '../../../support/harness.ts';
import { openWindow } from '../chromium-fixture.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';

it('a response that is written until the session ends is still there after signing in again', async () => {
  const [fixture, browser] = await Promise.all([sharedDashboard(), sharedChromium()]);
  const { refunds, tenant, write } = refundsOf(fixture.harness, 'inProcess', newTenant());
  const dispute = { disputeId: randomUUID(), paymentIntentId: randomUUID() };
  await refunds.openDispute({ ...write(), ...dispute });
  const visitor = await fixture.signIn({ [tenant.merchantId]: Role.FINANCE });
  const { context, page, violations } = await openWindow(browser, fixture.baseUrl, visitor);
  const path = `/live/${tenant.merchantId}/disputes/${dispute.disputeId}`;
  await page.goto(path);
  await page.getByLabel('Response').fill('Delivered on 20 November.');
  const session = await context.cookies();
  await context.clearCookies();
  await page.getByRole('button', { name: 'Send response' }).click();
  await page.getByText('the form was not sent').waitFor();
  const back = new URL(page.url()).searchParams.get('return');
  expect(back).toBe(path);

  await context.addCookies(session);
  await page.goto(back!);
  expect(await page.getByLabel('Response').inputValue()).toBe('Delivered on 20 November.');
  await page.getByRole('button', { name: 'Send response' }).click();
  await page.getByText('Response sent.').waitFor();
  expect(await page.locator('.words').innerText()).toBe('Delivered on 20 November.');
  // The script runs once the whole page is read.
  await expect.poll(() => page.evaluate('Object.keys(sessionStorage)')).toEqual([]);
  await page.reload();
  expect(await page.getByText('Response sent.').count()).toBe(0);
  expect(violations).toEqual([]);
  await context.close();
});
