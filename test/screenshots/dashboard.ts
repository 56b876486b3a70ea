import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { DeliveryStatus } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { startWholeSystem, temporaryDataDir } from '../contract/whole-system.ts';
import { launchChromium } from '../support/chromium.ts';
import { type DemoFile, FailingMerchant, until } from './failing-merchant.ts';

interface DashboardDemo extends DemoFile {
  readonly live: { readonly merchantId: string };
  readonly dashboard: { readonly baseUrl: string; readonly email: string; readonly password: string };
}

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 360, height: 740 };
const EVENTS = 6;

/**
 * Starts `npm start`, signs in as its demo user, and takes a picture of every page. Their content comes from the
 * user's own steps and from an endpoint that fails.
 */
export async function takeDashboardPictures(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  using data = temporaryDataDir();
  await using _ = await startWholeSystem(data.path, { WEBHOOK_SCHEDULE_SANDBOX: '0s,2s,4s' });
  const demo: DashboardDemo = JSON.parse(readFileSync(join(data.path, 'demo.json'), 'utf8'));
  const failing = await failingSubscription(new FailingMerchant(demo));
  await using browser = await launchChromium();
  const context = await browser.newContext({
    viewport: WIDE,
    baseURL: demo.dashboard.baseUrl,
    locale: 'en',
    reducedMotion: 'reduce',
  });
  const tour = new Tour(await signedIn(context, demo), folder);
  const sandbox = `/sandbox/${demo.sandbox.merchantId}`;
  const live = `/live/${demo.live.merchantId}`;

  await tour.picture('home', '/');
  await tour.picture('overview', sandbox);
  await tour.picture('webhooks', `${sandbox}/webhooks`);
  await tour.picture('subscription', `${sandbox}/webhooks/${failing.subscriptionId}`);
  await tour.picture('deliveries', `${sandbox}/deliveries`);
  await tour.picture('delivery', `${sandbox}/deliveries/${failing.deliveryId}`);
  await resendPicture(tour, `${sandbox}/webhooks/${failing.subscriptionId}`);
  await secretPicture(tour, `${sandbox}/webhooks/new`, demo.receiver.url);
  await tour.picture('funds', `${live}/funds`);
  await tour.follow('day', live, /\/funds\/days\/[0-9-]+$/);
  await tour.picture('projection', `${live}/funds/projection`);
  await tour.picture('refunds', `${live}/refunds`);
  await refundPicture(tour, `${live}/refunds`);
  await disputePictures(tour, `${live}/disputes?status=`);
  await tour.picture('advances', `${live}/advances`);
  await tour.picture('advance-quote', `${live}/advances/new`);
  await tour.picture('products', `${live}/products`);
  await tour.follow('product', `${live}/products?status=ACTIVE`, /\/products\/[0-9a-f-]{36}$/);
  await tour.picture('api-keys', `${sandbox}/api-keys`);
  await tour.picture('simulate', `${sandbox}/simulate`);
  await tour.picture('members', `${sandbox}/members`);
  await tour.picture('audit', `${sandbox}/audit`);
  await tour.picture('account', '/account');
  await chartPicture(tour, sandbox);
  await tour.narrow();
  await tour.picture('narrow', sandbox);
}

/** A subscription in ERROR, whose endpoint answers 503, and a delivery to it that has exhausted its attempts. */
async function failingSubscription(merchant: FailingMerchant) {
  await merchant.fail('shop', 503);
  const subscriptionId = await merchant.subscribe('shop');
  await merchant.publish(EVENTS);
  const [delivery] = await merchant.deliveriesOf(
    subscriptionId,
    EVENTS,
    ({ status }) => status === DeliveryStatus.EXHAUSTED,
  );
  return { subscriptionId, deliveryId: delivery!.id };
}

async function signedIn(context: BrowserContext, { dashboard }: DashboardDemo): Promise<Page> {
  const page = await context.newPage();
  await page.goto('/');
  await page.locator('main a.button').click();
  await page.locator('input[name="email"]').fill(dashboard.email);
  await page.locator('input[type="password"]').fill(dashboard.password);
  await page.locator('button').first().click();
  await page.waitForURL(`${dashboard.baseUrl}/**`);
  return page;
}

/** A resend of what failed, while it runs: the endpoint still answers 503. */
async function resendPicture(tour: Tour, path: string): Promise<void> {
  const { page } = tour;
  await page.goto(`${path}/deliveries`);
  await page.locator('details:has(form[action$="/preview"]) > summary').first().click();
  await page.locator('form[action$="/preview"] button').first().click();
  await page.locator('form[action$="/preview"] button').click();
  await page.locator('form[action$="/resends"] button').click();
  await page.waitForURL(/\/resends\/[0-9a-f-]{36}/);
  await page.locator('progress').waitFor();
  await tour.shoot('resend');
}

/** A case to decide, scrolled to its decision. */
async function refundPicture(tour: Tour, list: string): Promise<void> {
  await tour.follow('refund', list, /^\/live\/[^/]+\/refunds\/[0-9a-f-]{36}$/);
  await tour.page.locator('.decisions').scrollIntoViewIfNeeded();
  await tour.shoot('refund');
}

/** The list of disputes, and the first dispute with evidence. */
async function disputePictures(tour: Tour, list: string): Promise<void> {
  const { page } = tour;
  await tour.picture('disputes', list);
  const rows = page.locator('main tbody tr td:first-child a');
  const paths = await rows.evaluateAll((links) => links.map((link) => link.getAttribute('href')!));
  for (const path of paths) {
    await page.goto(path);
    if ((await page.locator('main a[download]').count()) > 0) return tour.picture('dispute', path);
  }
  throw new Error('no dispute has evidence');
}

/** The overview, scrolled to the deliveries by hour. */
async function chartPicture(tour: Tour, overview: string): Promise<void> {
  await tour.page.goto(overview);
  await tour.page.locator('[aria-labelledby="delivery-hours-title"]').scrollIntoViewIfNeeded();
  await tour.shoot('charts');
}

/** The only page that shows a signing secret, that of a subscription which nothing else uses. */
async function secretPicture(tour: Tour, path: string, url: string): Promise<void> {
  const { page } = tour;
  await page.goto(path);
  await page.locator('input[name="url"]').fill(`${new URL(url).origin}/webhooks/erp`);
  await page.locator('input[type="checkbox"]').first().check();
  await tour.shoot('create');
  await page.locator('main form[method="post"] button').last().click();
  await page
    .getByText(/whsec_/)
    .first()
    .waitFor();
  await tour.shoot('secret');
}

/** A window that opens pages and takes their pictures. */
class Tour {
  readonly page: Page;
  readonly #folder: string;

  constructor(page: Page, folder: string) {
    this.page = page;
    this.#folder = folder;
  }

  /** Fails if the page does not exist. */
  async picture(name: string, path: string): Promise<void> {
    const response = await this.page.goto(path);
    if (response?.status() !== 200) throw new Error(`${path}: ${response?.status()}`);
    await this.shoot(name);
  }

  /** Opens the first link of a page whose path fits. */
  async follow(name: string, path: string, link: RegExp): Promise<void> {
    await this.page.goto(path);
    const paths = await this.page
      .locator('main a')
      .evaluateAll((links) => links.map((one) => one.getAttribute('href')));
    const found = paths.find((one) => one !== null && link.test(one));
    if (!found) throw new Error(`${path} has no such link`);
    await this.picture(name, found);
  }

  async narrow(): Promise<void> {
    await this.page.setViewportSize(NARROW);
  }

  async shoot(name: string): Promise<void> {
    await until(async () => ((await this.page.locator('h1').count()) === 1 ? true : undefined));
    await this.page.screenshot({ path: join(this.#folder, `${name}.png`) });
  }
}
