import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LANGUAGE_COOKIE, LANGUAGES } from '../../../gateway/dashboard/shell/language.ts';
import { SMALL_SIZE } from '../../../local/demo/data/demo-tenant.ts';
import { writeDemoTenant } from '../../../local/demo/demo-data.ts';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { tableFaults } from '../table-faults.ts';
import { openWindow } from './chromium-fixture.ts';
import type { Visitor } from './dashboard-fixture.ts';
import { type DeliveriesFixture, startDeliveriesFixture } from './webhooks/deliveries/deliveries-fixture.ts';
import { makeEveryState } from './webhooks/deliveries/every-state.ts';

/** The demo data in every table of the dashboard. */

/** Kinds of pages: paths below the merchant's, whatever the id, date and parameters. */
const KINDS_WITH_TABLES = [
  ...['', '/funds', '/funds/sales', '/funds/sales/:id', '/funds/days/:date', '/funds/days/:date/sales'],
  ...['/funds/statement', '/funds/reconcile', '/funds/projection', '/refunds', '/disputes', '/advances'],
  ...[
    '/products',
    '/products/:id',
    '/webhooks',
    '/webhooks/:id',
    '/deliveries',
    '/resends',
    '/members',
    '/audit',
  ],
  ...['/simulate', '/search'],
];

/** The newest product has no offers yet. */
const MOST_OF_A_KIND = 2;

/** Its words are longer. */
const WIDER_LANGUAGE = ['pt-BR'] as const;

const WIDE = { width: 1280, height: 900 };
/** Half a window, or a tablet, and A4 with usual margins. */
const TABLET = { width: 768, height: 900 };
const PAPER = { width: 718, height: 1040 };

/** Narrower tables may put dates, ids and headings on two lines, and split what people wrote, like addresses. */
const isFaultOfNarrower = (fault: string) => /: (split: [^@\d]+|on two lines: -?R\$.*)$/.test(fault);

let fixture: DeliveriesFixture;
let admin: Visitor;
const merchantId = randomUUID();
const base = `/sandbox/${merchantId}`;
beforeAll(async () => {
  fixture = await startDeliveriesFixture();
  const tenant = { merchantId, environment: Environment.TEST };
  admin = await fixture.signIn({ [merchantId]: Role.ADMIN }, `ana-${merchantId.slice(0, 4)}@demo.example`);
  await writeDemoTenant(fixture.transport, tenant, new Date(), SMALL_SIZE);
  await makeEveryState(fixture, { tenant }, randomUUID());
  await admin.submit(`${base}/members`, '/invite', { email: 'caio@demo.example', role: 'finance' });
}, 300_000);
afterAll(() => fixture.close());

const kindOf = (path: string) =>
  path
    .slice(base.length)
    .replace(/\?.*/, '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ':id')
    .replaceAll(/\d{4}-\d{2}-\d{2}/g, ':date');

/** The pages of the merchant that the open page links to, files apart. */
async function linksOn(page: Page): Promise<string[]> {
  const paths = await page
    .locator('a[href]:not([download])')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')!));
  return paths.filter((path) => path.startsWith(base) && !path.includes('.csv'));
}

/** Where the open page splits an amount or a word on a tablet or on paper, or is too wide for paper. */
async function faultsOfNarrower(page: Page): Promise<string[]> {
  await page.setViewportSize(TABLET);
  const onTablet = (await tableFaults(page)).filter(isFaultOfNarrower);
  await page.setViewportSize(PAPER);
  await page.emulateMedia({ media: 'print' });
  const onPaper = (await tableFaults(page)).filter(
    (fault) => isFaultOfNarrower(fault) || fault === 'the page scrolls sideways',
  );
  await page.emulateMedia({ media: 'screen' });
  await page.setViewportSize(WIDE);
  return [...onTablet.map((fault) => `tablet: ${fault}`), ...onPaper.map((fault) => `paper: ${fault}`)];
}

it('no table scrolls sideways or splits an id, an amount, a date or a word; amounts and words are whole on tablets and paper too', async () => {
  const { context, page } = await openWindow(fixture.baseUrl, admin);
  const queue = [base, `${base}/refunds?status=`, `${base}/disputes?status=`, `${base}/search?q=R-10`];
  const known = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const withTables = new Set<string>();
  const faults: string[] = [];
  for (const path of queue) {
    const kind = kindOf(path);
    // A second page of a kind has other data under the same words.
    for (const language of seen.has(kind) ? WIDER_LANGUAGE : LANGUAGES) {
      await context.addCookies([{ name: LANGUAGE_COOKIE, value: language, url: fixture.baseUrl }]);
      await page.goto(path);
      const narrower = language === 'en' ? [] : await faultsOfNarrower(page);
      for (const found of [...(await tableFaults(page)), ...narrower])
        faults.push(`${kind} ${language}: ${found}`);
      if ((await page.locator('table').count()) === 0) break;
      withTables.add(kind);
    }
    seen.add(kind);
    for (const link of await linksOn(page)) {
      const ofKind = known.get(kindOf(link)) ?? new Set();
      if (ofKind.size === MOST_OF_A_KIND || ofKind.has(link)) continue;
      known.set(kindOf(link), ofKind.add(link));
      queue.push(link);
    }
  }
  expect(faults).toEqual([]);
  expect(KINDS_WITH_TABLES.filter((kind) => !withTables.has(kind))).toEqual([]);
});
