import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ProviderOutcome } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryService,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { refundsOf } from '../../../services/refunds/refund-case-fixture.ts';
import { newWrite } from '../../../support/harness.ts';
import { sharedDashboard, type Visitor } from '../dashboard-fixture.ts';
import { makeWorld } from '../probes/probe-world.ts';

const fixture = await sharedDashboard();
const world = await makeWorld(fixture);
/** Another merchant, whose developer searches for records of the first one. */
const other = await makeWorld(fixture);

/** Searches from the box in the header of a page, as a browser without scripts does. */
async function search(visitor: Visitor, base: string, text: string) {
  const { document } = await visitor.get(`${base}/products`);
  const form = document.querySelector('form[role="search"]')!;
  return visitor.get(`${form.getAttribute('action')!}?q=${encodeURIComponent(text)}`);
}

test('the id of a record leads to its page, for its own merchant, environment and roles only', async () => {
  const { ids, merchantId, people } = world;
  const live = `/live/${merchantId}`;
  const expected: readonly (readonly [name: string, path: string])[] = [
    ['refundCaseId', `/refunds/${ids.refundCaseId}`],
    ['disputeId', `/disputes/${ids.disputeId}`],
    ['saleId', `/funds/sales/${ids.saleId}`],
    ['advanceRequestId', `/advances/${ids.advanceRequestId}`],
    ['productId', `/products/${ids.productId}`],
    ['subscriptionId', `/webhooks/${ids.subscriptionId}`],
    ['deliveryId', `/deliveries/${ids.deliveryId}`],
    ['resendId', `/resends/${ids.resendId}`],
  ];
  for (const [name, path] of expected) {
    const id = ids[name]!;
    const found = await search(people[Role.VIEWER], live, ` ${id.toUpperCase()} `);
    expect([found.status, found.path], name).toEqual([200, live + path]);
    for (const [visitor, base] of [
      [other.people[Role.ADMIN], `/live/${other.merchantId}`],
      [people[Role.ADMIN], `/sandbox/${merchantId}`],
    ] as const) {
      const missed = await search(visitor, base, id);
      expect([missed.status, missed.path.split('?')[0]], name).toEqual([200, `${base}/search`]);
      expect(missed.text, name).toContain('Nothing found');
      expect(missed.text, name).toContain(
        'an order number, a customer reference or that of a refund, a release date',
      );
    }
    const finance = await search(people[Role.FINANCE], live, id);
    expect(finance.path === live + path, name).toBe(!/webhooks|deliveries|resends/.test(path));
  }
  const day = await search(people[Role.VIEWER], live, '21/11/2026');
  expect(day.path).toBe(`${live}/funds/days/2026-11-21`);
});

/** Texts by which records of the first merchant are found, with the links of the result. */
async function searchableTexts(): Promise<[text: string, links: string[]][]> {
  const tenant = { merchantId: world.merchantId, environment: Environment.LIVE };
  const orderNumber = `R-${randomUUID().slice(0, 8)}`;
  const customerReference = `Maria ${randomUUID()}`;
  const sold = { orderNumber, customerReference };
  const { saleId } = await fundsCaller(fixture.transport, tenant).sell({
    on: '2020-06-20',
    gross: 4_990n,
    sold,
  });
  const { refunds, write, processing } = refundsOf(fixture.harness, 'inProcess', tenant);
  const [refunded, disputed] = [randomUUID(), randomUUID()];
  const refundReference = `R ${randomUUID()}`;
  const facts = { paymentIntentId: refunded, saleId, paidAmountMinor: 4_990n, refundReference };
  const { id: refundCaseId } = await processing({ ...facts, amountMinor: 100n });
  const providerRefundId = `D60701190${randomUUID()}`;
  const outcome = ProviderOutcome.SUCCEEDED;
  await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome, providerRefundId });
  const disputeId = randomUUID();
  await refunds.openDispute({ ...write(), disputeId, paymentIntentId: disputed, saleId });
  const advances = createClient(AdvanceService, fixture.transport);
  const { advanceRequestId = '' } = world.ids;
  const advance = () => ({ ...newWrite(tenant), advanceRequestId });
  await advances.approveAdvance(advance());
  await advances.releaseAdvance(advance());
  const providerPayoutId = `E60701190${randomUUID()}`;
  const answer = { case: 'accepted', value: { providerPayoutId } } as const;
  await advances.recordPayoutAnswer({ ...advance(), answer });
  const [sale, refund] = [`/funds/sales/${saleId}`, `/refunds/${refundCaseId}`];
  const dispute = `/disputes/${disputeId}`;
  const ofSale = [sale, refund, sale, dispute, sale];
  return [
    [orderNumber, ofSale],
    [orderNumber.slice(0, -3).toUpperCase(), ofSale],
    [customerReference, ofSale],
    [` ${customerReference} `, ofSale],
    [refundReference, [refund, sale]],
    [providerRefundId, [refund, sale]],
    [refunded, [refund, sale]],
    [disputed, [dispute, sale]],
    [providerPayoutId, [`/advances/${advanceRequestId}`]],
  ];
}

async function linksFor(visitor: Visitor, base: string, text: string): Promise<string[]> {
  const { document } = await search(visitor, base, text);
  const links = document.querySelectorAll('main td a');
  return links.map((link) => link.getAttribute('href')!.replace(base, ''));
}

test('order numbers, customers, payments and ids at the bank list what belongs to them, and nothing of others', async () => {
  const { people, merchantId } = world;
  for (const [text, links] of await searchableTexts()) {
    expect(await linksFor(people[Role.VIEWER], `/live/${merchantId}`, text), text).toEqual(links);
    expect(await linksFor(people[Role.ADMIN], `/sandbox/${merchantId}`, text)).toEqual([]);
    expect(await linksFor(other.people[Role.ADMIN], `/live/${other.merchantId}`, text)).toEqual([]);
  }
});

test('the URL of an endpoint leads to it, for roles that see endpoints', async () => {
  const { people, merchantId, ids } = world;
  const { subscriptionId = '' } = ids;
  const subscriptions = createClient(WebhookSubscriptionService, fixture.transport);
  const request = { merchantId, environment: Environment.LIVE, subscriptionId };
  const { subscription } = await subscriptions.getWebhookSubscription(request);
  const { host, pathname } = new URL(subscription!.url);
  const live = `/live/${merchantId}`;
  const found = await linksFor(people[Role.VIEWER], live, `${host}${pathname}`.toUpperCase());
  expect(found).toEqual([`/webhooks/${subscriptionId}`]);
  expect(await linksFor(people[Role.FINANCE], live, host)).toEqual([]);
});

test('the id of a request leads to what it has delivered', async () => {
  const { people, merchantId, ids } = world;
  const deliveries = createClient(DeliveryService, fixture.transport);
  const request = { merchantId, environment: Environment.LIVE, deliveryId: ids.deliveryId! };
  const { requestId, eventType } = (await deliveries.getDelivery(request)).delivery!;
  const { path, text } = await search(people[Role.DEVELOPER], `/live/${merchantId}`, requestId);
  expect(path).toBe(`/live/${merchantId}/deliveries?request=${requestId}`);
  expect(text).toContain(eventType);
});
