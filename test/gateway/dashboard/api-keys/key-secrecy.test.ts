import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { ApiKeyService } from '../../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { startHarness } from '../../../support/harness.ts';
import { tablesWith } from '../../../support/sql.ts';
import { accessibilityFaults, expectToFit, openWindow } from '../chromium-fixture.ts';
import { DASHBOARD_SETTINGS, dashboardOn, type Visitor } from '../dashboard-fixture.ts';

const KEY = /mpk_(?:live|test)_[A-Za-z0-9_-]{20,}/;

describe('an API key that was shown', async () => {
  const log: string[] = [];
  const harness = await startHarness(DASHBOARD_SETTINGS);
  const logger = pino({ level: 'trace' }, { write: (line) => void log.push(line) });
  const dashboard = await dashboardOn(harness, logger);
  let merchant: string;
  let developer: Visitor;
  beforeEach(async () => {
    merchant = randomUUID();
    developer = await dashboard.signIn({ [merchant]: Role.ADMIN });
  });
  afterAll(async () => {
    await dashboard.close();
    await harness.close();
  });

  /** In the sandbox, the command that uses the key is shown as well. */
  const path = () => `/sandbox/${merchant}/api-keys`;
  const keysOf = async () => {
    const tenant = { merchantId: merchant, environment: Environment.TEST };
    return (await createClient(ApiKeyService, dashboard.transport).listApiKeys(tenant)).apiKeys;
  };

  /** Fills in the form, and returns the key that was shown. */
  async function issue(page: Page): Promise<string> {
    await page.goto(path());
    await page.getByLabel('Name').fill('till');
    await page.getByLabel('webhooks:manage').check();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('heading', { name: 'Your new key' }).waitFor();
    const key = await page.locator('.secret code').textContent();
    expect(key).toMatch(KEY);
    expect(await page.locator('.copyable-block code').textContent()).toContain(`=${key}\n`);
    return key!;
  }

  test('is not shown by a reload, back, forward, another tab, or the history', async () => {
    const { context, page, foreign, violations } = await openWindow(dashboard.baseUrl, developer);
    const key = await issue(page);
    expect(page.url()).not.toContain(key);
    page.on('dialog', (dialog) => dialog.accept());

    await page.reload();
    await page.getByRole('heading', { name: 'The key cannot be shown again' }).waitFor();
    expect(await page.content()).not.toContain(key);

    await page.goBack();
    expect(new URL(page.url()).pathname).toBe(path());
    expect(await page.content()).not.toContain(key);
    // The browser does not send the form again by itself: it shows a page of its own.
    await page.goForward().catch(() => undefined);
    expect(await vi.waitFor(() => page.content())).not.toContain(key);

    const tab = await context.newPage();
    await tab.goto(path());
    expect(await tab.content()).not.toContain(key);
    await tab.goto(`${path()}/issue`);
    expect(new URL(tab.url()).pathname).toBe(path());
    expect(await tab.content()).not.toContain(key);
    expect(await keysOf()).toHaveLength(1);
    expect(foreign).toEqual([]);
    expect(violations).toEqual([]);
  });

  test('is also shown after a double click', async () => {
    const { page } = await openWindow(dashboard.baseUrl, developer);
    await page.goto(path());
    await page.getByLabel('Name').fill('till');
    await page.getByLabel('webhooks:manage').check();
    await page.getByRole('button', { name: 'Create key' }).dblclick();
    await page.getByRole('heading', { name: 'Your new key' }).waitFor();
    expect(await page.locator('.secret code').textContent()).toMatch(KEY);
    expect(await keysOf()).toHaveLength(1);
  });

  test('a form that was sent can be sent again once the page is back from the back-forward cache', async () => {
    const { page } = await openWindow(dashboard.baseUrl, developer);
    await page.goto(path());
    const isIgnored = () =>
      page.evaluate<boolean>(
        `!document.querySelector('main form').dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }))`,
      );
    const looksSending = () => page.locator('html.sending').count();
    expect(await looksSending()).toBe(0);
    expect([await isIgnored(), await isIgnored()]).toEqual([false, true]);
    expect(await looksSending()).toBe(1);
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    expect(await looksSending()).toBe(0);
    expect(await isIgnored()).toBe(false);
  });

  test('is accessible where it is shown, can be copied, and is removed when the page is left', async () => {
    const { context, page } = await openWindow(dashboard.baseUrl, developer, { width: 320 });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const key = await issue(page);
    expect(await accessibilityFaults(page)).toEqual([]);
    await expectToFit(page, [320]);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(key);
    // As for the back-forward cache, which this browser does not use.
    await page.evaluate("dispatchEvent(new Event('pagehide'))");
    expect(await page.content()).not.toContain(key);
  });

  test('is in no cookie or storage, no log, and not in the database', async () => {
    const { context, page } = await openWindow(dashboard.baseUrl, developer);
    const first = await issue(page);
    await page.goto(path());
    await page.getByText('Rotate', { exact: true }).click();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await page.getByRole('heading', { name: 'Your new key' }).waitFor();
    const second = (await page.locator('.secret code').textContent())!;
    expect(second).toMatch(KEY);
    const kept = JSON.stringify(await context.storageState());
    const audit = await page.goto(`/sandbox/${merchant}/audit`);
    const trail = await audit!.text();
    expect(trail).toContain('rotated the API key');
    for (const key of [first, second]) {
      // The hint is kept on purpose; what follows it is the key's secret.
      const secret = key.slice('mpk_live_1234'.length);
      expect(kept).not.toContain(secret);
      expect(trail).not.toContain(secret);
      expect(log.join('')).not.toContain(secret);
      expect(await tablesWith(harness, [secret])).toEqual([]);
    }
    expect(log.join('')).toContain('/api-keys/issue');
  });
});
