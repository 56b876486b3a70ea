import { afterAll, describe, expect, it } from 'vitest';
import { EVENT_CATALOG } from '../../services/webhooks/events/event-types/event-catalog.ts';
import { sharedChromium } from '../support/chromium.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { call } from './http-call.ts';
import { tableFaults } from './table-faults.ts';

/** The documentation as a reader sees it, in a real browser that resolves no other host. */

const OPERATIONS = [
  ['GET', '/v1/refund-cases', 'List refund cases'],
  ['GET', '/v1/products/{id}', 'Get a product'],
  ['GET', '/v1/funds/releases', 'List funds releases'],
  ['GET', '/v1/funds/releases/calendar', 'Get the release calendar'],
  ['GET', '/v1/advance/requests', 'List advance requests'],
  ['POST', '/v1/webhook-subscriptions', 'Create a webhook subscription'],
  ['GET', '/v1/webhook-subscriptions', 'List webhook subscriptions'],
  ['POST', '/v1/webhook-subscriptions/{id}/disable', 'Disable a webhook subscription'],
] as const;

/** Of the reference's contents; the first is open. */
const GROUPS = ['Catalog', 'Balance and withdrawals', 'Advances', 'Webhooks', 'Events'];

/** At least. */
const TABLES_OF_GUIDES = 8;
const VIEWPORT = { width: 1280, height: 1000 };

/** The ids of the headings that guides link to. */
function linksIn(guides: string): string[] {
  const ids = [...guides.matchAll(/\(#((?:description|tag)\/[^)]+)\)/g)].map(([, id]) => `/${id}`);
  expect(new Set(ids).size).toBeGreaterThan(4);
  return ids;
}

describe('the reference', async () => {
  /** Requests to other hosts, and errors of the browser, such as violations of the page's policy. */
  const foreign: string[] = [];
  const complaints: string[] = [];

  const gateways = await startGateways({ RATE_LIMIT_ADDRESS: '1000' });
  const origin = `http://127.0.0.1:${gateways.ports.live}`;
  const page = await (await sharedChromium()).newPage({ viewport: VIEWPORT, reducedMotion: 'reduce' });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== origin) foreign.push(url.href);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${origin}/docs/`);
  for (const group of GROUPS) await page.getByRole('button', { name: `Open Group - ${group}` }).click();
  afterAll(async () => {
    await page.context().close();
    await gateways.close();
  });

  async function expectSearchToFind(heading: string): Promise<void> {
    await page.keyboard.press('Control+k');
    await page
      .getByPlaceholder(/Search/i)
      .last()
      .fill(heading);
    await page
      .getByRole('option', { name: new RegExp(heading) })
      .first()
      .waitFor({ timeout: 40_000 });
    await page.keyboard.press('Escape');
  }

  /** No table of the guides scrolls sideways or splits a word. */
  async function expectFittingTables(): Promise<void> {
    const last = page.locator('table').nth(TABLES_OF_GUIDES - 1);
    await last.waitFor({ state: 'attached' });
    expect(await tableFaults(page)).toEqual([]);
  }

  it('has fitting tables', expectFittingTables);

  it('lists every operation and every event', async () => {
    const links = page.locator('a[href^="#"], a[href*="/docs"]');
    const targets = await links.evaluateAll((anchors) =>
      anchors.map((anchor) => anchor.getAttribute('href')!),
    );
    for (const [method, path, summary] of OPERATIONS) {
      expect(
        targets.filter((target) => target.endsWith(`/${method}${path}`)),
        summary,
      ).not.toEqual([]);
    }
    const names = (await links.allTextContents()).join(' ');
    for (const { name } of EVENT_CATALOG) expect(names).toContain(name);
  });

  // Each takes the browser seconds: one of each kind.
  it.each([OPERATIONS[1], OPERATIONS[5]])('shows %s %s', async (method, path, summary) => {
    await page.locator(`a[href$="/${method}${path}"]`).first().click();
    await page.getByRole('heading', { name: summary }).waitFor();
    await page.getByText(path, { exact: true }).first().waitFor();
  });

  it('finds the guides with its search', async () => {
    await expectSearchToFind('Duplicates and order');
  });

  it('shows an event', async () => {
    const { name } = EVENT_CATALOG.at(-1)!;
    await page.locator('a', { hasText: name }).first().click();
    await page.getByRole('heading', { name }).waitFor();
  });

  it('has every heading that the guides link to', async () => {
    const { info } = (await call(gateways.ports.live, '/openapi.json')).json;
    const links = linksIn(info.description);
    for (const id of links) expect(await page.locator(`[id$="${id}"]`).count(), id).toBeGreaterThan(0);
  });

  it.each(['/docs/errors', '/docs/pt-br/errors'])('has fitting tables at %s', async (path) => {
    const other = await (await sharedChromium()).newPage({ viewport: VIEWPORT });
    await other.goto(origin + path);
    expect(await tableFaults(other)).toEqual([]);
    await other.context().close();
  });

  it('tries an operation on its own host with the key that the reader enters', async () => {
    const { keys } = await newMerchant(gateways);
    await page.getByPlaceholder('Token').first().fill(keys.live);
    const call = page.waitForResponse(`${origin}/v1/refund-cases**`);
    await page.locator('a[href$="/GET/v1/refund-cases"]').first().click();
    await page.getByRole('button', { name: /Test Request.*refund-cases/ }).click();
    await page.getByRole('button', { name: /^Send get/ }).click();
    expect((await call).status()).toBe(200);
    await page.getByText('hasMore').last().waitFor();
    await page.keyboard.press('Escape');
  });

  it('links to the entry of an error', async () => {
    await page.goto(`${origin}/docs/#description/codes`);
    const link = page.getByRole('link', { name: 'RATE_LIMITED' }).first();
    await page.goto(new URL((await link.getAttribute('href'))!, page.url()).href);
    await page.getByRole('heading', { name: 'RATE_LIMITED' }).waitFor();
    await page.getByRole('link', { name: 'Back to the reference' }).click();
    await page.getByRole('heading', { name: 'Getting started' }).waitFor();
  });

  it('has the same headings and fitting tables in Portuguese, found by its search, and leads back to English', async () => {
    await page.getByRole('link', { name: 'Em português' }).first().click();
    await page.getByRole('heading', { name: 'Primeiros passos' }).waitFor();
    await expectFittingTables();
    const { info } = (await call(gateways.ports.live, '/docs/pt-br/openapi.json')).json;
    for (const id of linksIn(info.description)) {
      expect(await page.locator(`[id$="${id}"]`).count(), id).toBeGreaterThan(0);
    }
    await page.goto(`${origin}/docs/pt-br/#description/na-sua-propria-maquina`);
    const heading = page.getByRole('heading', { name: 'Na sua própria máquina' });
    await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(1_000);
    await expectSearchToFind('Duplicidade e ordem');
    const back = await page.getByRole('link', { name: 'In English' }).first().getAttribute('href');
    expect(new URL(back!, page.url()).href).toBe(`${origin}/docs/`);
  });

  it('sends no requests to other hosts and follows its own policy', () => {
    expect(foreign).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
