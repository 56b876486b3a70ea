import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AttemptFailure } from '../../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newKey } from '../../../../support/harness.ts';
import type { SeenPage } from '../../dashboard-fixture.ts';
import { type DeliveriesFixture, type Shop, startDeliveriesFixture } from './deliveries-fixture.ts';
import { type EveryState, makeEveryState } from './every-state.ts';

let fixture: DeliveriesFixture;
let shop: Shop;
let all: EveryState;
beforeAll(async () => {
  fixture = await startDeliveriesFixture();
  shop = await fixture.shop();
  all = await makeEveryState(fixture, shop);
});
afterAll(() => fixture.close());

const open = (deliveryId: string) => shop.developer.get(`${shop.base}/deliveries/${deliveryId}`);
const stateOf = ({ document }: SeenPage) => document.querySelector('[data-live="state"] p')!.text.trim();
const verbsOf = ({ document }: SeenPage) =>
  document.querySelectorAll('main form').map((form) => form.getAttribute('action')!.split('/').at(-1));

describe('the page of a delivery', () => {
  const REASONS = {
    succeeded: ['Delivered', 'Your server acknowledged the event', ['resend']],
    retrying: ['Retrying', 'The last attempt failed', ['retry', 'cancel']],
    underWay: ['Retrying', 'An attempt is in progress', ['retry', 'cancel']],
    held: ['On hold: endpoint failing', 'failing on many deliveries at once', ['retry', 'cancel']],
    blocked: ['Waiting for an earlier event', 'an earlier event of the same object', ['cancel']],
    queued: ['Queued', 'will be sent shortly', ['cancel']],
    exhausted: ['Failed', 'there will be no more', ['resend']],
    canceled: ['Canceled', 'manually, or because the endpoint was disabled', ['resend']],
  } as const;
  it.each(Object.entries(REASONS))(
    'explains the status %s, and offers the possible actions',
    async (name, expected) => {
      const [badge, reason, verbs] = expected;
      const page = await open(all.deliveries[name]!);
      expect(stateOf(page)).toMatch(new RegExp(`^${badge}`));
      expect(stateOf(page)).toContain(reason);
      expect(verbsOf(page)).toEqual(verbs);
    },
  );

  it('says that its endpoint is paused or disabled, or that its resend was canceled', async () => {
    const { tenant, base, developer } = await fixture.shop();
    const { id: subscriptionId } = await fixture.subscribed(tenant);
    const reasonOf = async (id: string) => stateOf(await developer.get(`${base}/deliveries/${id}`));
    const [held] = await fixture.attempted(tenant, { httpStatus: 500 });
    const paused = { ...tenant, idempotencyKey: newKey(), subscriptionId };
    await fixture.webhooks.subscriptions.pauseWebhookSubscription(paused);
    await fixture.webhooks.sql(`update webhooks.open_delivery set status = 'HELD' where id = $1`, [held]);
    expect(await reasonOf(held!)).toContain('Our operations team has paused deliveries');
    await fixture.webhooks.subscriptions.resumeWebhookSubscription({ ...paused, idempotencyKey: newKey() });
    const resend = await fixture.webhooks.again(tenant, subscriptionId);
    await fixture.webhooks.published(tenant, [Date.now() - 1_000]);
    await fixture.webhooks.goOn(resend.id);
    const [made] = await fixture.webhooks.madeOf(resend.id);
    await fixture.webhooks.cancel(tenant, resend.id);
    expect(await reasonOf(made!.id)).toContain('The resend that created it was canceled');
    await fixture.webhooks.disable(tenant, subscriptionId);
    expect(await reasonOf(held!)).toContain('The endpoint was disabled');
  });

  it('shows its attempts, newest first, in plain language', async () => {
    const { document } = await open(all.deliveries.exhausted!);
    const attempts = document.querySelectorAll('.attempts li');
    expect(attempts).toHaveLength(10);
    expect(attempts[0]!.text).toMatch(/Attempt 10\s+HTTP 301\s+12 ms/);
    expect(attempts[0]!.text).toContain('We do not follow redirects');
    expect(attempts[0]!.querySelector('details')!.hasAttribute('open')).toBe(true);
    expect(attempts[1]!.querySelector('details')!.hasAttribute('open')).toBe(false);
    const failed = await open(all.deliveries.canceled!);
    expect(failed.document.querySelector('.attempts')!.text).toContain('Host not found (DNS)');
  });

  it('has a text for every attempt failure, in both languages', async () => {
    const { tenant, base, developer } = await fixture.shop();
    await fixture.subscribed(tenant);
    const failures = Object.values(AttemptFailure).filter(
      (value) => typeof value === 'number' && value !== 0,
    );
    const [id] = await fixture.attempted(tenant, { httpStatus: 500 });
    const seen = new Set<string>();
    for (const failure of failures) {
      await fixture.webhooks.sql(
        `update webhooks.attempt set http_status = null, failure = $1 where delivery_id = $2`,
        [AttemptFailure[failure as number], id],
      );
      for (const language of ['pt-BR', 'en']) {
        const headers = { cookie: `__Host-session=${developer.token}; language=${language}` };
        const text = await (await developer.fetch(`${base}/deliveries/${id}`, { headers })).text();
        seen.add(/class="badge bad">([^<]+)</.exec(text)![1]!);
      }
    }
    expect(seen.size).toBe(2 * failures.length);
    expect([...seen].join()).not.toMatch(/_|outro motivo|another reason/);
  });

  it('exists after its event has been deleted', async () => {
    const { tenant, base, developer } = await fixture.shop();
    await fixture.subscribed(tenant);
    const [id] = await fixture.attempted(tenant, { httpStatus: 500 });
    await fixture.webhooks.sql(`delete from webhooks.event where merchant_id = $1`, [tenant.merchantId]);
    const page = await developer.get(`${base}/deliveries/${id}`);
    expect([page.status, page.text.includes('The event is no longer available')]).toEqual([200, true]);
  });
});
