import { afterAll, expect, it } from 'vitest';
import { accessibilityFaults, expectToFit, openWindow } from '../../chromium-fixture.ts';
import { startDeliveriesFixture } from './deliveries-fixture.ts';
import { makeEveryState, PROBE } from './every-state.ts';

const fixture = await startDeliveriesFixture();
const shop = await fixture.shop();
const all = await makeEveryState(fixture, shop);
afterAll(() => fixture.close());

const paths = (): string[] => [
  '/deliveries',
  '/deliveries?object=none&since=2026-01-02T03:04',
  '/deliveries?event=x&since=2026-02-30T00:00',
  `/webhooks/${all.subscriptionId}/deliveries`,
  `/webhooks/${all.subscriptionId}/resends`,
  `/webhooks/${all.subscriptionId}/resends/preview?from=2026-01-01T00:00&to=2036-01-01T00:00`,
  '/resends',
  `/resends/${all.resendId}`,
  ...Object.values(all.deliveries).map((id) => `/deliveries/${id}`),
];

it('the pages of deliveries are accessible, fit the window and execute nothing that others entered', async () => {
  const narrow = { locale: 'pt-BR', width: 320 };
  const { page, foreign, violations } = await openWindow(fixture.baseUrl, shop.developer, narrow);
  for (const path of paths()) {
    const response = await page.goto(`${shop.base}${path}`);
    const isRefused = path.includes('event=x');
    expect(response!.status(), path).toBe(isRefused ? 422 : 200);
    await page.evaluate("for (const folded of document.querySelectorAll('main details')) folded.open = true");
    expect(await accessibilityFaults(page), path).toEqual([]);
    await expectToFit(page, [980, 1280]);
    if (path === `/deliveries/${all.deliveries.succeeded}`) {
      expect(await page.locator('.attempts pre').textContent()).toBe(PROBE);
      expect(await page.locator('main > pre').textContent()).toContain(JSON.stringify(PROBE));
    }
    expect(await page.locator('main :is(img, b)').count(), path).toBe(0);
    expect(await page.title(), path).not.toBe('run');
  }
  expect(foreign).toEqual([]);
  expect(violations.filter((text) => !text.includes('422'))).toEqual([]);
});
