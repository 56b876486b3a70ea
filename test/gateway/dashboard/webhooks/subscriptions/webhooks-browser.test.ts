import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exhausted } from '../../../../services/webhooks/subscription-errors.ts';
import { newUrl } from '../../../../services/webhooks/webhooks-fixture.ts';
import { launchChromium, sharedChromium } from '../../../../support/chromium.ts';
import { accessibilityFaults, expectToFit, openWindow } from '../../chromium-fixture.ts';
import {
  HOSTILE,
  type MerchantFixture,
  SECRET,
  type SubscriptionsFixture,
  startSubscriptionsFixture,
} from './subscriptions-fixture.ts';

let fixture: SubscriptionsFixture;
let browser: Browser;
beforeAll(async () => {
  fixture = await startSubscriptionsFixture();
  browser = await sharedChromium();
});
afterAll(async () => {
  await fixture.close();
});

type WindowOptions = Parameters<typeof openWindow>[3];

async function windowOf({ developer }: MerchantFixture, options?: WindowOptions, inBrowser = browser) {
  const window = await openWindow(inBrowser, fixture.baseUrl, developer, options);
  onTestFinished(() => window.context.close());
  return window;
}

/** Fills in the form as a person does; ends on the page with the secret. */
async function createByHand(page: Page, { at }: MerchantFixture): Promise<string> {
  await page.goto(at('/webhooks'));
  await page.getByRole('link', { name: 'New endpoint' }).click();
  await page.getByLabel('URL').fill(newUrl());
  await page.getByLabel('Search types').fill('refund requested');
  await page.getByRole('checkbox', { name: 'refund.requested.v1' }).check();
  await page.getByRole('button', { name: 'Create endpoint' }).click();
  const secret = await page.locator('[data-once] code').textContent();
  expect(secret).toMatch(SECRET);
  return secret!;
}

const isShown = async (page: Page) => SECRET.test(await page.content());

describe('the secret in a browser', () => {
  test('is shown once: not after a reload, nor at the same URL', async () => {
    const merchant = await fixture.newMerchant();
    const { page, violations } = await windowOf(merchant);
    await createByHand(page, merchant);
    expect(page.url()).not.toMatch(SECRET);
    // As the reload button does, with the form sent again.
    await page.reload();
    expect(await page.locator('main').textContent()).toMatch(/was created.*already been shown/s);
    expect(await isShown(page)).toBe(false);
    await page.goto(page.url());
    expect(await page.getByLabel('URL').inputValue()).toBe('');
    expect(await isShown(page)).toBe(false);
    expect(violations).toEqual([]);
  });

  test('is gone from a page in the back-forward cache', async () => {
    const merchant = await fixture.newMerchant();
    const keeping = await launchChromium({
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
    });
    onTestFinished(() => keeping.close());
    const { page } = await windowOf(merchant, {}, keeping);
    const secret = await createByHand(page, merchant);
    await page.waitForLoadState('load');
    // Fires the event that the browser would fire first, whether or not it caches this page.
    await page.evaluate('dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))');
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('link', { name: 'saved it, continue' }).click();
    await page.locator('[data-live=state]').waitFor();
    await page.goBack().catch(() => undefined);
    expect(await page.content()).not.toContain(secret);
  });

  test('is not in any browser storage', async () => {
    const merchant = await fixture.newMerchant();
    const { page, context } = await windowOf(merchant);
    const secret = await createByHand(page, merchant);
    await page.getByRole('link', { name: 'saved it, continue' }).click();
    const stored = await page.evaluate(
      `caches.keys().catch(() => []).then((names) =>
        JSON.stringify([names, { ...localStorage }, { ...sessionStorage }, history.state, document.cookie]))`,
    );
    expect(stored).not.toContain(secret);
    expect(JSON.stringify(await context.storageState())).not.toContain(secret);
  });
});

test('a subscription becomes active live, and a test event arrives', async () => {
  const merchant = await fixture.newMerchant();
  const { page, violations } = await windowOf(merchant);
  const { id } = await fixture.webhooks.subscribe(merchant.tenant);
  await page.goto(merchant.at(`/webhooks/${id}`));
  await page.locator('[data-live=state]').getByText('Pending', { exact: true }).waitFor();
  await fixture.attempts.recordPending(merchant.tenant.merchantId, { httpStatus: 204 });
  await page.locator('[data-live=state]').getByText('Active', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Send test event' }).click();
  await page.locator('[data-live=test]').getByText('On its way').waitFor();
  await fixture.attempts.recordPending(merchant.tenant.merchantId, { httpStatus: 204 });
  await page.locator('[data-live=test]').getByText('HTTP 204').waitFor();
  expect(violations).toEqual([]);
});

test('the actions follow state changes made elsewhere', async () => {
  const merchant = await fixture.newMerchant();
  const { page, violations } = await windowOf(merchant);
  const { id } = await fixture.webhooks.subscribe(merchant.tenant);
  await page.goto(merchant.at(`/webhooks/${id}`));
  await page.getByText('Disable', { exact: true }).waitFor();
  await fixture.webhooks.subscriptions.disableWebhookSubscription(merchant.write(id));
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByText('Events were not sent from').waitFor();
  await page.getByRole('link', { name: 'Resend these events' }).click();
  await page.waitForURL(/\/resends\/preview/);
  expect(violations).toEqual([]);
});

test('everything works without JavaScript', async () => {
  const merchant = await fixture.newMerchant();
  const { page } = await windowOf(merchant, { javaScriptEnabled: false });
  await page.goto(merchant.at('/webhooks/new'));
  expect(await page.getByLabel('Search types').isVisible()).toBe(false);
  await page.getByLabel('URL').fill(newUrl());
  await page.getByRole('checkbox', { name: 'payment.succeeded.v1' }).check();
  await page.getByRole('button', { name: 'Create endpoint' }).click();
  expect(await page.locator('[data-once] code').textContent()).toMatch(SECRET);
  expect(await page.getByRole('button', { name: 'Copy' }).isVisible()).toBe(false);
  await page.getByRole('link', { name: 'saved it, continue' }).click();
  await page.getByText('Disable', { exact: true }).click();
  await page.getByRole('button', { name: 'Disable now' }).click();
  await page.getByText('Endpoint disabled.').waitFor();
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByRole('link', { name: 'Resend these events' }).waitFor();
});

test('the search filters event types by words', async () => {
  const merchant = await fixture.newMerchant();
  const { page } = await windowOf(merchant);
  await page.goto(merchant.at('/webhooks/new'));
  await page.getByLabel('Search types').fill('refund paid');
  const visible = page.locator('#event-types .option:visible');
  await expect.poll(() => visible.allTextContents()).toHaveLength(2);
  await expect.poll(() => page.locator('#event-types > fieldset:visible').count()).toBe(1);
  await page.getByLabel('Search types').press('Enter');
  expect(page.url()).toBe(`${fixture.baseUrl}${merchant.at('/webhooks/new')}`);
  await page.getByLabel('Search types').fill('');
  expect(await visible.count()).toBeGreaterThan(20);
});

test('each page is accessible, fits, makes no requests to other hosts and executes no foreign code', async () => {
  const merchant = await fixture.newMerchant();
  const { id } = await fixture.webhooks.subscribe(merchant.tenant);
  const hostile = await fixture.webhooks.subscribe(merchant.tenant);
  await fixture.webhooks.sql(
    `update webhooks.subscription set state = 'ERROR', error_at = now(), error = $3, url = url || $2
        where id = $1`,
    [hostile.id, HOSTILE.repeat(4), exhausted(4, { httpStatus: 500 })],
  );
  const { page, foreign, violations } = await windowOf(merchant, { locale: 'pt-BR', width: 360 });
  const look = async (name: string) => {
    expect((await accessibilityFaults(page)).join('\n'), name).toBe('');
    await expectToFit(page, [1280], name);
    if (process.env.SCREENSHOTS) {
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png`, fullPage: true });
    }
  };
  const missed = 'missed=1-9&missed_from=2026-11-20T10:00:00.000Z&missed_to=2026-11-20T12:00:00.000Z';
  const pages: Record<string, string> = {
    list: '/webhooks',
    new: '/webhooks/new',
    detail: `/webhooks/${id}?${missed}`,
    hostile: `/webhooks/${hostile.id}`,
    reveal: `/webhooks/${id}/reveal`,
    rotate: `/webhooks/${id}/rotate`,
    edit: `/webhooks/${id}/edit`,
  };
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(merchant.at(path));
    await look(name);
  }
  await page.goto(merchant.at('/webhooks/new'));
  await page.locator('main form button').click();
  await look('refused');
  await page.goto(merchant.at(`/webhooks/${id}/reveal`));
  await page.locator('main form button').click();
  await look('secret');
  await page.reload();
  await look('shown-already');
  await page.goto(merchant.at(`/webhooks/${id}`));
  await page.locator('form[action$="/test"] button').click();
  await look('test');
  await page.locator('details.confirm:has(form[action$="/disable"]) summary').click();
  await page.locator('form[action$="/disable"] button').click();
  await look('disabled');
  expect(foreign).toEqual([]);
  expect(violations.filter((text) => !text.includes('422'))).toEqual([]);
});
