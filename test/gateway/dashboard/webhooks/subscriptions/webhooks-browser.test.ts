import { afterAll, expect, test } from 'vitest';
import { exhausted } from '../../../../services/webhooks/subscriptions/subscription-errors.ts';
import { accessibilityFaults, expectToFit, openWindow } from '../../chromium-fixture.ts';
import { HOSTILE, type MerchantFixture, startSubscriptionsFixture } from './subscriptions-fixture.ts';

const fixture = await startSubscriptionsFixture();
afterAll(() => fixture.close());

const windowOf = ({ developer }: MerchantFixture, options?: Parameters<typeof openWindow>[2]) =>
  openWindow(fixture.baseUrl, developer, options);

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
  const { page, foreign, violations } = await windowOf(merchant, { locale: 'pt-BR', width: 320 });
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
