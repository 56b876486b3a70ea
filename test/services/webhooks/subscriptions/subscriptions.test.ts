import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { WebhookSubscriptionState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newKey, newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { lockWaits, openSession } from '../../../support/sql.ts';
import { newUrl } from '../webhooks-fixture.ts';
import { LIMIT, startSubscriptions } from './subscriptions-fixture.ts';

const { harness, fixture, create } = await startSubscriptions();

describe('WebhookSubscriptionService', () => {
  const write = (tenant: TestTenant, subscriptionId: string) => ({ ...newWrite(tenant), subscriptionId });

  it('changes the fields in the request, and leaves the rest', async () => {
    const tenant = newTenant();
    const { id, url } = (await create(tenant)).subscription!;
    const update = (change: { url?: string; eventTypes?: string[]; description?: string }) =>
      fixture.subscriptions.updateWebhookSubscription({ ...write(tenant, id), ...change });
    const pings = async () =>
      (await fixture.events.listEvents({ ...tenant, type: 'webhook.ping.v1' })).events.length;
    await update({ description: 'Orders' });
    const typed = await update({ eventTypes: ['refund.failed.v1'] });
    expect(typed.subscription).toMatchObject({
      url,
      description: 'Orders',
      eventTypes: ['refund.failed.v1'],
    });
    expect(await pings()).toBe(1);
    const moved = newUrl();
    const { subscription } = await update({ url: moved, description: '' });
    expect(subscription).toMatchObject({ url: moved, description: '', eventTypes: ['refund.failed.v1'] });
    expect(await pings()).toBe(2);
    await update({ url: moved });
    expect(await pings()).toBe(2);
    await expect(create(tenant, { url })).resolves.toBeDefined();
    const refusals: [string, Parameters<typeof update>[0]][] = [
      ['INVALID_ARGUMENT', {}],
      ['INVALID_WEBHOOK_URL', { url: 'https://10.0.0.7/hook' }],
      ['INVALID_EVENT_TYPE', { eventTypes: ['webhook.ping.v1'] }],
    ];
    for (const [reason, change] of refusals)
      await expectRefusal(update(change), Code.InvalidArgument, reason);
    await expectRefusal(update({ url }), Code.AlreadyExists, 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS');
  });

  it('gives a URL to one of many concurrent requests, updates and a creation', async () => {
    const tenant = newTenant();
    const ids: string[] = [];
    for (let n = 0; n < LIMIT - 1; n += 1) ids.push((await create(tenant)).subscription!.id);
    const url = newUrl();
    await using holding = await openSession(harness.databaseUrl);
    await holding.query('begin');
    await holding.query(`select webhooks.lock_subscriptions($1, 'live')`, [tenant.merchantId]);
    const waiting = async (requests: number) =>
      expect.poll(async () => (await lockWaits(harness)).length).toBe(requests);
    const updates = Promise.allSettled(
      ids.map((id) => fixture.subscriptions.updateWebhookSubscription({ ...write(tenant, id), url })),
    );
    await waiting(ids.length);
    // It has found the URL unused, and continues after the updates.
    const creation = Promise.allSettled([create(tenant, { url })]);
    await waiting(ids.length + 1);
    await holding.query('commit');
    const results = [...(await updates), ...(await creation)];
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(ids.length);
    for (const { reason } of refused) {
      await expectRefusal(Promise.reject(reason), Code.AlreadyExists, 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS');
    }
  });

  it('refuses a change based on contents that have since changed', async () => {
    const tenant = newTenant();
    const { id, etag } = (await create(tenant)).subscription!;
    const client = fixture.subscriptions;
    const get = async () =>
      (await client.getWebhookSubscription({ ...tenant, subscriptionId: id })).subscription!;
    const update = (change: { eventTypes?: string[]; description?: string; etag?: string }) =>
      client.updateWebhookSubscription({ ...write(tenant, id), ...change });
    await client.disableWebhookSubscription(write(tenant, id));
    expect((await get()).etag).toBe(etag);
    const [ana, bia] = await Promise.allSettled([
      update({ description: 'of Ana', etag }),
      update({ eventTypes: ['refund.failed.v1'], etag }),
    ]);
    expect([ana.status, bia.status].sort()).toEqual(['fulfilled', 'rejected']);
    const current = await get();
    expect(current.etag).not.toBe(etag);
    const late = ana.status === 'rejected' ? { description: 'of Ana' } : { eventTypes: ['refund.failed.v1'] };
    await expectRefusal(update({ ...late, etag }), Code.FailedPrecondition, 'WEBHOOK_SUBSCRIPTION_CHANGED', {
      etag: current.etag,
    });
    expect(await get()).toEqual(current);
    await update({ ...late, etag: current.etag });
    expect(await get()).toMatchObject({ description: 'of Ana', eventTypes: ['refund.failed.v1'] });
    await expect(update({ description: 'of whoever comes last' })).resolves.toBeDefined();
  });

  it('frees the URL and the place of a deleted one, and keeps only its deliveries', async () => {
    const tenant = newTenant();
    const { id, url } = (await create(tenant)).subscription!;
    for (let n = 1; n < LIMIT; n += 1) await create(tenant);
    const client = fixture.subscriptions;
    const request = write(tenant, id);
    const deleted = await client.deleteWebhookSubscription(request);
    expect(deleted.subscription).toMatchObject({ id, state: WebhookSubscriptionState.DISABLED });
    expect(await client.deleteWebhookSubscription(request)).toEqual(deleted);
    const again = (await create(tenant, { url })).subscription!;
    const { subscriptions } = await client.listWebhookSubscriptions(tenant);
    expect(subscriptions.map((listed) => listed.id)).not.toContain(id);
    expect(subscriptions.map((listed) => listed.id)).toContain(again.id);
    const calls = [
      client.deleteWebhookSubscription(write(tenant, id)),
      client.disableWebhookSubscription(write(tenant, id)),
      client.reactivateWebhookSubscription(write(tenant, id)),
      client.updateWebhookSubscription({ ...write(tenant, id), description: 'x' }),
      client.pauseWebhookSubscription(write(tenant, id)),
      client.sendTestEvent(write(tenant, id)),
      client.revealSigningSecret(write(tenant, id)),
      client.rotateSigningSecret(write(tenant, id)),
      client.getSigningSecretStatus({ ...tenant, subscriptionId: id }),
    ];
    await Promise.all(
      calls.map((call) => expectRefusal(call, Code.NotFound, 'WEBHOOK_SUBSCRIPTION_NOT_FOUND')),
    );
    const { deliveries } = await fixture.deliveries.listDeliveries({ ...tenant, subscriptionId: id });
    expect(deliveries).toMatchObject([{ eventType: 'webhook.ping.v1' }]);
    const read = await client.getWebhookSubscription({ ...tenant, subscriptionId: id });
    expect(read.subscription!.deletedAt).toEqual(deleted.subscription!.deletedAt);
    const secrets = 'select from webhooks.signing_secret where subscription_id = $1';
    expect(await fixture.sql(secrets, [id])).toEqual([]);
  });

  it('disables repeatedly, and reactivates only disabled ones, with the missed period', async () => {
    const tenant = newTenant();
    const subscriptionId = (await create(tenant)).subscription!.id;
    const client = fixture.subscriptions;
    const key = () => ({ ...newWrite(tenant), subscriptionId });
    await expectRefusal(
      client.reactivateWebhookSubscription(key()),
      Code.FailedPrecondition,
      'WEBHOOK_SUBSCRIPTION_STATE',
      { state: 'PENDING' },
    );
    const disabled = await client.disableWebhookSubscription(key());
    expect(disabled.subscription?.state).toBe(WebhookSubscriptionState.DISABLED);
    expect(disabled.subscription?.disabledAt).toBeDefined();
    const again = await client.disableWebhookSubscription(key());
    expect(again.subscription).toEqual(disabled.subscription);
    const reactivated = await client.reactivateWebhookSubscription(key());
    expect(reactivated.subscription?.state).toBe(WebhookSubscriptionState.PENDING);
    expect(reactivated.subscription?.disabledAt).toBeUndefined();
    expect(reactivated.missedFrom).toEqual(disabled.subscription?.disabledAt);
    expect(reactivated.missedTo!.seconds).toBeGreaterThanOrEqual(reactivated.missedFrom!.seconds);
  });

  it('reveals the signing secret once, and to the same key again for five minutes', async () => {
    const tenant = newTenant();
    const subscriptionId = (await create(tenant)).subscription!.id;
    const reveal = (idempotencyKey: string) =>
      fixture.subscriptions.revealSigningSecret({ ...tenant, subscriptionId, idempotencyKey });
    const key = newKey();
    const { signingSecret } = await reveal(key);
    expect(signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await reveal(key)).signingSecret).toBe(signingSecret);
    const refused = (idempotencyKey: string) =>
      expectRefusal(reveal(idempotencyKey), Code.FailedPrecondition, 'SIGNING_SECRET_ALREADY_REVEALED');
    await refused(newKey());
    await fixture.sql(
      `update webhooks.signing_secret set revealed_at = revealed_at - interval '5 minutes 1 second'
        where subscription_id = $1`,
      [subscriptionId],
    );
    await refused(key);
  });
});
