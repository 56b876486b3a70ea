import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { exhausted, gone } from '../../../services/webhooks/subscriptions/subscription-errors.ts';
import { accessibilityFaults, expectToFit, openWindow } from '../chromium-fixture.ts';
import { type OverviewFixture, startOverviewFixture } from './overview-fixture.ts';

const FAILED = exhausted(10, { httpStatus: 503 });
const GONE = gone();
const MOST_BYTES = 100_000;
const MOST_STOPS = 200;

interface FocusStop {
  readonly name: string;
  readonly outline: string;
  readonly ground: string;
}

/** Runs in the page: the element with the focus, the color of its outline, and that of the background around it. */
const FOCUS_STOP = `(() => {
  const focused = document.activeElement;
  const { outlineStyle, outlineColor } = getComputedStyle(focused);
  let ground = 'rgba(0, 0, 0, 0)';
  for (let box = focused.parentElement; box && ground === 'rgba(0, 0, 0, 0)'; box = box.parentElement)
    ground = getComputedStyle(box).backgroundColor;
  const name = focused === document.body ? 'BODY' : focused.outerHTML;
  return { name, outline: outlineStyle === 'none' ? ground : outlineColor, ground };
})()`;

/** Runs in the page: the texts of charts that begin or end outside their drawing. */
const CUT_OFF = `[...document.querySelectorAll('.chart text')].flatMap((text) => {
  const { x, width } = text.getBBox();
  return x < 0 || x + width > text.ownerSVGElement.viewBox.baseVal.width ? [text.textContent] : [];
})`;

const fixture = await startOverviewFixture();
const busy = await busyMerchant();
afterAll(() => fixture.close());

type Merchant = Awaited<ReturnType<OverviewFixture['newMerchant']>>;

const windowOf = ({ person }: Merchant, options?: Parameters<typeof openWindow>[2]) =>
  openWindow(fixture.baseUrl, person, options);

/** A merchant with data in every part of the page. */
async function busyMerchant() {
  const merchant = await fixture.newMerchant();
  const { id } = await merchant.subscription('ACTIVE');
  for (let hoursAgo = 0; hoursAgo < 24; hoursAgo += 1) {
    await merchant.attempts(id, { hoursAgo, succeeded: 1_000 * hoursAgo, failed: hoursAgo % 5 });
  }
  await merchant.subscription('PENDING');
  await merchant.subscription(
    'ERROR',
    { error: FAILED },
    `https://93.184.215.14/${'a-long-path/'.repeat(20)}`,
  );
  await merchant.subscription('DISABLED', { error: GONE, goneDays: 1 });
  for (let n = 1; n <= 6; n += 1) await merchant.refunds.open({ amountMinor: BigInt(n * 700) });
  await merchant.funds.sell({ gross: 12_345_678n, instant: true });
  await merchant.funds.sell({ gross: 60_000n, installments: 12 });
  return merchant;
}

/** The bytes that a page transfers, including response headers. */
async function weightOf(page: Page, path: string): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.goto(path, { waitUntil: 'load' });
  await page.waitForTimeout(500);
  await session.detach();
  return bytes;
}

describe('the overview in a browser', () => {
  it.each([
    { width: 1280, locale: 'en', others: [] },
    { width: 320, locale: 'pt-BR', others: [1280] },
  ])('is accessible at $width px in $locale', async ({ width, locale, others }) => {
    const merchant = busy;
    const { page, foreign, violations } = await windowOf(merchant, { width, locale });
    await page.goto(merchant.at());
    expect(await accessibilityFaults(page)).toEqual([]);
    await expectToFit(page, others);
    expect(await page.evaluate(CUT_OFF)).toEqual([]);
    if (process.env.SHOTS) {
      await page.screenshot({ path: join(tmpdir(), `overview-${width}.png`), fullPage: true });
    }
    expect({ foreign, violations }).toEqual({ foreign: [], violations: [] });
  });

  it('shows live that a webhook enters ERROR, and that it has recovered', async () => {
    const merchant = await fixture.newMerchant();
    const { id, url } = await merchant.subscription('ACTIVE');
    const { page } = await windowOf(merchant);
    await page.goto(merchant.at());
    await page.getByText('1 Active').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await fixture.webhooks.sql(
      `update webhooks.subscription set state = 'ERROR', error = $2, error_at = now() where id = $1`,
      [id, FAILED],
    );
    const banner = page.getByRole('alert');
    await banner.getByText('A webhook needs attention').waitFor();
    expect(await banner.getByRole('link').textContent()).toBe(url);
    await page.getByText('1 Failing').waitFor();
    await fixture.webhooks.sql(
      `update webhooks.subscription set state = 'ACTIVE', error = null, error_at = null where id = $1`,
      [id],
    );
    await banner.waitFor({ state: 'detached' });
  });

  it('the first Tab leads to the content, and a narrow screen shows the open section', async () => {
    const { page } = await windowOf(busy, { width: 390 });
    await page.goto(busy.at('/api-keys'));
    const section = (await page.locator('.sections [aria-current]').boundingBox())!;
    expect(section.x).toBeGreaterThan(0);
    expect(section.x + section.width).toBeLessThanOrEqual(390);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
  });

  it('the focus has an outline that differs from what it is on, everywhere', async () => {
    const { page } = await windowOf(busy);
    await page.goto(busy.at());
    const invisible: unknown[] = [];
    let stops = 0;
    for (; stops < MOST_STOPS; stops += 1) {
      await page.keyboard.press('Tab');
      const { name, outline, ground } = await page.evaluate<FocusStop>(FOCUS_STOP);
      if (name === 'BODY') break;
      if (outline === ground) invisible.push(name);
    }
    expect(invisible).toEqual([]);
    expect(stops).toBeGreaterThan(20);
    expect(stops).toBeLessThan(MOST_STOPS);
  });
});

describe('on a phone, without JavaScript', () => {
  const heightOf = async (page: Page, selector: string) => {
    const heights = await Promise.all(
      (await page.locator(selector).all()).map(async (one) => (await one.boundingBox())!.height),
    );
    return Math.max(...heights);
  };

  it('the header takes one line, filters are collapsed, and refunds are compact rows', async () => {
    const options = { width: 390, locale: 'pt-BR', javaScriptEnabled: false };
    const { page } = await windowOf(busy, options);
    await page.goto(busy.at('/refunds'));
    await expectToFit(page, []);
    expect(await heightOf(page, '.top')).toBeLessThan(64);
    expect(await heightOf(page, 'main tbody tr')).toBeLessThan(130);
    const [filter, search] = [page.locator('select[name=status]'), page.locator('input[name=q]')];
    expect([await filter.isVisible(), await search.isVisible()]).toEqual([false, false]);
    await page.getByText('Filtros').click();
    await page.getByText('Menu').click();
    expect([await filter.isVisible(), await search.isVisible()]).toEqual([true, true]);
  });

  it('wide screens show filters and menu at once', async () => {
    const { page } = await windowOf(busy, { javaScriptEnabled: false });
    await page.goto(busy.at('/refunds'));
    expect(await page.locator('select[name=status]').isVisible()).toBe(true);
    expect(await page.locator('input[name=q]').isVisible()).toBe(true);
    expect(
      await page
        .locator('summary', { hasText: /^(Menu|Filters)$/ })
        .filter({ visible: true })
        .count(),
    ).toBe(0);
  });
});

it('the first load transfers less than 100 kB, with all its files', async () => {
  const { page } = await windowOf(busy);
  const bytes = await weightOf(page, busy.at());
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThan(MOST_BYTES);
});
