import { randomUUID } from 'node:crypto';
import { newUrl } from '../../../../services/webhooks/webhooks-fixture.ts';
import { newWrite, type TestTenant } from '../../../../support/harness.ts';
import type { DeliveriesFixture, Shop } from './deliveries-fixture.ts';

/** Text that would run, or end the page's own markup, if it were not escaped. */
export const PROBE = `"><img src=x onerror="document.title='run'"></script><b>'&`;

/** The ids of a merchant's records of every kind. */
export interface EveryState {
  readonly subscriptionId: string;
  /** By the state they are in. */
  readonly deliveries: Readonly<Record<string, string>>;
  readonly resendId: string;
}

/** Deliveries in every state, with a text in all untrusted values: ids, event data, responses and the URL. */
export async function makeEveryState(
  fixture: DeliveriesFixture,
  { tenant }: Pick<Shop, 'tenant'>,
  given = PROBE,
): Promise<EveryState> {
  const { webhooks } = fixture;
  const url = `https://93.184.215.14/hooks/${randomUUID()}?q=${given.replaceAll(' ', '')}`;
  const { id: subscriptionId } = await fixture.subscribed(tenant, url);
  const probe = { responseExcerpt: given };
  const [succeeded] = await fixture.attempted(tenant, { httpStatus: 200, ...probe }, given);
  await webhooks.sql(`update webhooks.event set body = replace(body, '"CARD"', $1) where merchant_id = $2`, [
    JSON.stringify(given),
    tenant.merchantId,
  ]);
  const [retrying] = await fixture.attempted(tenant, { httpStatus: 503, ...probe }, given);
  const [canceled] = await fixture.attempted(tenant, { failure: 'DNS' });
  await webhooks.deliveries.cancelDelivery({ ...newWrite(tenant), deliveryId: canceled! });
  const [held] = await fixture.attempted(tenant, { httpStatus: 429 });
  await webhooks.sql(`update webhooks.open_delivery set status = 'HELD' where id = $1`, [held]);
  const [underWay] = await fixture.attempted(tenant, { isInFlight: true });
  const exhausted = await exhaust(fixture, (await fixture.attempted(tenant, { httpStatus: 301 }))[0]!);
  const { blocked, queued } = await blockOne(fixture, tenant, given);
  const resend = await webhooks.resend(tenant, { case: 'requestId', value: given }, { subscriptionId });
  return {
    subscriptionId,
    resendId: resend.id,
    deliveries: { succeeded, retrying, canceled, held, underWay, exhausted, queued, blocked } as Record<
      string,
      string
    >,
  };
}

/** Makes every remaining attempt of a delivery fail. */
async function exhaust({ webhooks, attempts }: DeliveriesFixture, deliveryId: string): Promise<string> {
  const isOpen = () => webhooks.sql('select from webhooks.open_delivery where id = $1', [deliveryId]);
  while ((await isOpen()).length > 0) await attempts.record([deliveryId], { httpStatus: 301 });
  return deliveryId;
}

/** Two events of one object: the first fails at an ordered subscription, so the second is blocked there. */
async function blockOne({ webhooks, attempts }: DeliveriesFixture, tenant: TestTenant, given: string) {
  const { subscription } = await webhooks.subscriptions.createWebhookSubscription({
    ...newWrite(tenant),
    url: newUrl(),
    ordered: true,
    eventTypes: ['payment.succeeded.v1'],
  });
  await attempts.recordPending(tenant.merchantId, {});
  for (const requestId of [given, 'request 2']) await webhooks.publish(tenant, 'object 9', requestId);
  const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, objectId: 'object 9' });
  const [blocked, failing] = deliveries.filter(({ ordered }) => ordered);
  await attempts.record([failing!.id], { httpStatus: 500 });
  const queued = deliveries.find(({ subscriptionId }) => subscriptionId !== subscription!.id);
  return { blocked: blocked!.id, queued: queued!.id };
}
