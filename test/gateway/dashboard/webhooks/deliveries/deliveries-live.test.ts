import type { IncomingMessage, ServerResponse } from 'node:http';
import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AccountService, Role } from '../../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { newWrite } from '../../../../support/harness.ts';
import { openWindow } from '../../chromium-fixture.ts';
import { type Shop, startDeliveriesFixture } from './deliveries-fixture.ts';

/** Streams that are open at the dashboard. */
let streams = 0;
const fixture = await startDeliveriesFixture();
fixture.app.server.on('request', ({ headers }: IncomingMessage, response: ServerResponse) => {
  if (headers.accept !== 'text/event-stream') return;
  streams += 1;
  response.once('close', () => {
    streams -= 1;
  });
});
afterAll(() => fixture.close());

const accounts = () => createClient(AccountService, fixture.transport);

let shop: Shop & { readonly subscriptionId: string };
let window: Awaited<ReturnType<typeof openWindow>>;
let page: Page;
beforeEach(async () => {
  const opened = await fixture.shop();
  shop = { ...opened, subscriptionId: (await fixture.subscribed(opened.tenant)).id };
  window = await openWindow(fixture.baseUrl, shop.developer);
  page = window.page;
});
afterEach(async () => {
  await window.context.close();
  await expect.poll(() => streams, { timeout: 40_000 }).toBe(0);
});

/** Opens a page, and waits for its stream. */
async function open(path: string) {
  await page.goto(`${shop.base}${path}`);
  await expect.poll(() => streams, { timeout: 40_000 }).toBe(1);
  // Gone after a reload.
  await page.evaluate('document.body.dataset.stayed = "yes"');
}
const stayed = () => page.evaluate('document.body.dataset.stayed === "yes"');

const rows = () => page.locator('[data-live="deliveries"] tbody tr');

describe('an open page', () => {
  it('shows new deliveries and their attempts without a reload', async () => {
    await open('/deliveries');
    expect(await rows().count()).toBe(1);
    await fixture.attempted(shop.tenant, { httpStatus: 503 });
    await rows().filter({ hasText: 'HTTP 503' }).waitFor();
    expect(await rows().count()).toBe(2);
    expect(await stayed()).toBe(true);
  });

  it('shows changes of a delivery, and the actions that are possible', async () => {
    const [deliveryId] = await fixture.attempted(shop.tenant, { httpStatus: 503 });
    await open(`/deliveries/${deliveryId}`);
    await page.getByRole('button', { name: 'Retry now' }).waitFor();
    await fixture.webhooks.deliveries.cancelDelivery({ ...newWrite(shop.tenant), deliveryId: deliveryId! });
    await page.getByRole('button', { name: 'Resend event' }).waitFor();
    expect(await page.getByRole('button', { name: 'Retry now' }).count()).toBe(0);
    expect(await page.locator('[data-live="state"] .badge').textContent()).toBe('Canceled');
    expect(await stayed()).toBe(true);
  });

  it('leaves what has not changed as it is', async () => {
    const [deliveryId] = await fixture.attempted(shop.tenant, { httpStatus: 503 });
    await open('/deliveries');
    const unchanged = await rows().filter({ hasText: 'webhook.ping' }).elementHandle();
    await fixture.webhooks.deliveries.cancelDelivery({ ...newWrite(shop.tenant), deliveryId: deliveryId! });
    await rows().filter({ hasText: 'Canceled' }).waitFor();
    expect(await unchanged!.isVisible()).toBe(true);
  });

  it('shows a subscription’s newest deliveries and its state', async () => {
    await open(`/webhooks/${shop.subscriptionId}`);
    await fixture.attempted(shop.tenant, { httpStatus: 503 });
    await page.locator('main td').getByText('HTTP 503').waitFor();
    await fixture.webhooks.disable(shop.tenant, shop.subscriptionId);
    await page.locator('main .badge', { hasText: 'Disabled' }).waitFor();
    expect(await stayed()).toBe(true);
  });

  it('closes its connection while it is hidden, and catches up afterwards', async () => {
    await open('/deliveries');
    await setHidden(true);
    await expect.poll(() => streams, { timeout: 40_000 }).toBe(0);
    await fixture.attempted(shop.tenant, { httpStatus: 503 });
    expect(await rows().count()).toBe(1);
    await setHidden(false);
    await rows().filter({ hasText: 'HTTP 503' }).waitFor();
    expect(await stayed()).toBe(true);
  });

  it('leads a former member to sign-in', async () => {
    await fixture.signIn({ [shop.tenant.merchantId]: Role.ADMIN });
    await open('/deliveries');
    const member = { ...newWrite(shop.tenant), accountId: shop.developer.accountId };
    await accounts().removeMember(member);
    await page.waitForURL('**/sign-in?**');
  });

  it('leaves a focused region alone, and catches up when the focus has left it', async () => {
    await open('/deliveries');
    const link = rows().first().getByRole('link').first();
    await link.focus();
    await fixture.attempted(shop.tenant, { httpStatus: 503 });
    // Waits for the next rendering too, to show that nothing was replaced.
    await page.waitForTimeout(2_500);
    expect(await link.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    expect(await rows().count()).toBe(1);
    await page.keyboard.press('Tab');
    expect(await page.locator('[data-live="deliveries"] :focus').count()).toBe(1);
    await page.locator('select[name="type"]').focus();
    await rows().filter({ hasText: 'HTTP 503' }).waitFor();
    expect(await stayed()).toBe(true);
  });

  it('keeps opened details open, by attempt', async () => {
    const [deliveryId] = await fixture.attempted(shop.tenant, { httpStatus: 503, responseExcerpt: 'first' });
    await open(`/deliveries/${deliveryId}`);
    await page.getByText('Response from your server').click();
    await page.locator('select, a').first().focus();
    await fixture.attempts.record([deliveryId!], { httpStatus: 500, responseExcerpt: 'second' });
    await page.getByText('second').waitFor();
    expect(await page.getByText('first').isVisible()).toBe(false);
  });
});

/** Acts like a browser that shows another tab. */
async function setHidden(hidden: boolean) {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
     document.dispatchEvent(new Event('visibilitychange'));`,
  );
}
