import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  ProviderOutcome,
  RefundCaseService,
  RefundDebitOutcome,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryService,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
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

test('order numbers, customers, payments, ids at the bank and URLs list what belongs to them, and nothing of others', async () => {
  const { people } = world;
  const merchantId = world.merchantId;
  const live = `/live/${merchantId}`;
  const orderNumber = `R-${randomUUID().slice(0, 8)}`;
  const tenant = { merchantId, environment: Environment.LIVE };
  const { sell } = fundsCaller(fixture.transport, tenant);
  const customerReference = `Maria ${randomUUID()}`;
  const sold = { orderNumber, customerReference };
  const { saleId } = await sell({ on: '2020-06-20', gross: 4_990n, sold });
  const paymentIntentId = randomUUID();
  const refundReference = `R ${randomUUID()}`;
  const { refundCase } = await createClient(RefundCaseService, fixture.transport).openRefundCase({
    ...newWrite(tenant),
    paymentIntentId,
    saleId,
    amountMinor: 100n,
    paidAmountMinor: 4_990n,
    initiator: 2,
    reason: 'broken',
    refundReference,
  });
  const refunds = createClient(RefundCaseService, fixture.transport);
  const write = () => ({ ...newWrite(tenant), refundCaseId: refundCase!.id });
  await refunds.startRefund(write());
  await refunds.recordRefundDebit({ ...write(), outcome: RefundDebitOutcome.DEBITED });
  const providerRefundId = `D60701190${randomUUID()}`;
  const outcome = ProviderOutcome.SUCCEEDED;
  await refunds.recordProviderOutcome({ ...write(), outcome, providerRefundId });
  const disputed = { disputeId: randomUUID(), paymentIntentId: randomUUID(), saleId };
  await refunds.openDispute({ ...newWrite(tenant), ...disputed });
  const advances = createClient(AdvanceService, fixture.transport);
  const { advanceRequestId = '' } = world.ids;
  const advance = () => ({ ...newWrite(tenant), advanceRequestId });
  await advances.approveAdvance(advance());
  await advances.releaseAdvance(advance());
  const providerPayoutId = `E60701190${randomUUID()}`;
  const answer = { case: 'accepted', value: { providerPayoutId } } as const;
  await advances.recordPayoutAnswer({ ...advance(), answer });
  const links = async (visitor: Visitor, base: string, text: string) =>
    (await search(visitor, base, text)).document
      .querySelectorAll('main td a')
      .map((link) => link.getAttribute('href')!.replace(base, ''));
  const [sale, refund] = [`/funds/sales/${saleId}`, `/refunds/${refundCase!.id}`];
  const dispute = `/disputes/${disputed.disputeId}`;
  expect(await links(people[Role.VIEWER], live, orderNumber)).toEqual([sale, refund, sale, dispute, sale]);
  expect(await links(people[Role.VIEWER], live, orderNumber.slice(0, -3).toUpperCase())).toEqual([
    sale,
    refund,
    sale,
    dispute,
    sale,
  ]);
  for (const customer of [customerReference, ` ${customerReference} `]) {
    expect(await links(people[Role.VIEWER], live, customer)).toEqual([sale, refund, sale, dispute, sale]);
  }
  expect(await links(people[Role.VIEWER], live, providerRefundId)).toEqual([refund, sale]);
  expect(await links(people[Role.VIEWER], live, refundReference)).toEqual([refund, sale]);
  expect(await links(people[Role.VIEWER], live, providerPayoutId)).toEqual([`/advances/${advanceRequestId}`]);
  expect(await links(people[Role.VIEWER], live, disputed.paymentIntentId)).toEqual([dispute, sale]);
  expect(await links(people[Role.VIEWER], live, paymentIntentId)).toEqual([refund, sale]);
  const endpoint = `/webhooks/${world.ids.subscriptionId}`;
  const subscriptions = createClient(WebhookSubscriptionService, fixture.transport);
  const { subscription } = await subscriptions.getWebhookSubscription({
    ...tenant,
    subscriptionId: world.ids.subscriptionId!,
  });
  const deliveries = createClient(DeliveryService, fixture.transport);
  const { delivery } = await deliveries.getDelivery({ ...tenant, deliveryId: world.ids.deliveryId! });
  const caused = await search(people[Role.DEVELOPER], live, delivery!.requestId);
  expect([caused.path, caused.text.includes(delivery!.eventType)]).toEqual([
    `${live}/deliveries?request=${delivery!.requestId}`,
    true,
  ]);
  const { host, pathname } = new URL(subscription!.url);
  expect(await links(people[Role.VIEWER], live, `${host}${pathname}`.toUpperCase())).toEqual([endpoint]);
  expect(await links(people[Role.FINANCE], live, host)).toEqual([]);
  const all = [
    orderNumber,
    orderNumber.slice(0, -3),
    customerReference,
    providerRefundId,
    refundReference,
    providerPayoutId,
    paymentIntentId,
    saleId,
  ];
  for (const wanted of all) {
    expect(await links(other.people[Role.ADMIN], `/live/${other.merchantId}`, wanted)).toEqual([]);
    expect(await links(people[Role.ADMIN], `/sandbox/${merchantId}`, wanted)).toEqual([]);
  }
});
