import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WebhookSubscriptionState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newKey, newTenant, newWrite } from '../../../support/harness.ts';
import { openSession } from '../../../support/sql.ts';
import { newUrl } from '../webhooks-fixture.ts';
import { LIMIT, startSubscriptions } from './subscriptions-fixture.ts';

const statements: string[] = [];
const { harness, fixture, create } = await startSubscriptions((sql) => statements.push(sql));

describe('CreateWebhookSubscription', () => {
  it('creates a subscription in PENDING, with its URL as serialized by the WHATWG parser', async () => {
    const tenant = newTenant();
    const { subscription } = await create(tenant, { url: 'HTTPS://93.184.215.14:443/a/../hook?x=ü' });
    expect(subscription).toMatchObject({
      ...tenant,
      url: 'https://93.184.215.14/hook?x=%C3%BC',
      eventTypes: ['payment.succeeded.v1', 'refund.requested.v1'],
      state: WebhookSubscriptionState.PENDING,
    });
    const got = await fixture.subscriptions.getWebhookSubscription({
      ...tenant,
      subscriptionId: subscription!.id.toUpperCase(),
    });
    expect(got.subscription).toMatchObject({ id: subscription!.id, url: subscription!.url });
  });

  it.each(['http://93.184.215.14/hook', 'hook', 'https://127.0.0.1/hook'])('refuses %s', async (url) => {
    await expectRefusal(create(newTenant(), { url }), Code.InvalidArgument, 'INVALID_WEBHOOK_URL', {
      field: 'url',
    });
  });

  it('refuses a URL that is too long, as sent or as serialized, as an invalid argument', async () => {
    const long = `https://93.184.215.14/${'a'.repeat(2048)}`;
    const longWhenWritten = `https://93.184.215.14/${'ü'.repeat(1000)}`;
    for (const url of [long, longWhenWritten]) {
      await expectRefusal(create(newTenant(), { url }), Code.InvalidArgument, 'INVALID_ARGUMENT', {
        field: 'url',
      });
    }
  });

  it('refuses event types that are not in the catalog, and the ping', async () => {
    for (const type of ['payment.succeeded', 'webhook.ping.v1', 'PAYMENT.SUCCEEDED.V1']) {
      const created = create(newTenant(), { eventTypes: ['refund.failed.v1', type] });
      await expectRefusal(created, Code.InvalidArgument, 'INVALID_EVENT_TYPE', {
        field: 'event_types[1]',
        event_type: type,
      });
    }
    const twice = create(newTenant(), { eventTypes: ['refund.failed.v1', 'refund.failed.v1'] });
    await expectRefusal(twice, Code.InvalidArgument, 'INVALID_ARGUMENT');
    await expectRefusal(create(newTenant(), { eventTypes: [] }), Code.InvalidArgument, 'INVALID_ARGUMENT');
  });

  it('accepts allowed private addresses only in the sandbox', async () => {
    const url = `https://localhost:8443/${randomUUID()}`;
    const sandbox = await create(newTenant(Environment.TEST), { url });
    expect(sandbox.subscription?.url).toBe(url);
    await expectRefusal(create(newTenant(), { url }), Code.InvalidArgument, 'INVALID_WEBHOOK_URL');
    const elsewhere = create(newTenant(Environment.TEST), { url: 'https://10.1.2.3/hook' });
    await expectRefusal(elsewhere, Code.InvalidArgument, 'INVALID_WEBHOOK_URL');
  });

  it('allows one subscription per URL, including disabled ones, and ignores a final dot of the host', async () => {
    const tenant = newTenant(Environment.TEST);
    const path = randomUUID();
    const { subscription } = await create(tenant, { url: `https://localhost:8443/${path}` });
    const again = (url: string) => create(tenant, { url });
    const refused = (url: string) =>
      expectRefusal(again(url), Code.AlreadyExists, 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS', {
        subscription_id: subscription!.id,
      });
    await refused(`https://localhost.:8443/${path}`);
    await fixture.subscriptions.disableWebhookSubscription({
      ...newWrite(tenant),
      subscriptionId: subscription!.id,
    });
    await refused(`https://LOCALHOST:8443/${path}`);
    const dotted = { subscriptionId: subscription!.id, url: `https://localhost.:8443/${path}` };
    const own = await fixture.subscriptions.updateWebhookSubscription({ ...newWrite(tenant), ...dotted });
    expect(own.subscription?.url).toBe(dotted.url);
    const others = [newTenant(Environment.TEST), { ...tenant, merchantId: randomUUID() }];
    for (const other of others) {
      await expect(create(other, { url: `https://localhost:8443/${path}` })).resolves.toBeDefined();
    }
  });

  it('enforces the limit under concurrent requests; disabled ones do not count', async () => {
    const tenant = newTenant();
    const results = await Promise.allSettled(Array.from({ length: LIMIT + 5 }, () => create(tenant)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(LIMIT);
    const limited = () =>
      expectRefusal(create(tenant), Code.FailedPrecondition, 'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED', {
        limit: String(LIMIT),
      });
    await limited();
    const { subscriptions } = await fixture.subscriptions.listWebhookSubscriptions(tenant);
    const subscriptionId = subscriptions[0]!.id;
    const disable = { ...newWrite(tenant), subscriptionId };
    await fixture.subscriptions.disableWebhookSubscription(disable);
    await create(tenant);
    await limited();
    const reactivate = fixture.subscriptions.reactivateWebhookSubscription({
      ...newWrite(tenant),
      subscriptionId,
    });
    await expectRefusal(reactivate, Code.FailedPrecondition, 'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED');
  });

  it('waits for its turn without holding a connection that other merchants need', async () => {
    const [tenant, other] = [newTenant(), newTenant()];
    await using locking = await openSession(harness.databaseUrl);
    await locking.query('begin');
    await locking.query(
      `select pg_advisory_xact_lock(hashtextextended('webhook subscriptions ' || $1 || ' live', 0))`,
      [tenant.merchantId],
    );
    const waiting = Promise.allSettled(Array.from({ length: 40 }, () => create(tenant)));
    await delay(200);
    const startedAt = performance.now();
    await create(other);
    // Statements that wait for a lock give up after 15 s.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await locking.query('commit');
    const results = await waiting;
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(LIMIT);
  });

  it('lets one call of many at a time wait for the lock while another process creates one, and refuses repeats of their keys', async () => {
    const tenant = newTenant();
    const repeated = { url: newUrl(), idempotencyKey: newKey() };
    await using locking = await openSession(harness.databaseUrl);
    await locking.query('begin');
    const lock = `webhook subscription count ${tenant.merchantId} live`;
    await locking.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lock]);
    const creating = Promise.all(
      Array.from({ length: LIMIT }, (_, n) => create(tenant, n > 0 ? {} : repeated)),
    );
    const waits = () => statements.filter((sql) => sql.includes('advisory_xact_lock') && sql.includes(lock));
    const waitingNow = `select count(*)::int as count from pg_locks where not granted and (classid, objid, objsubid) =
      (select classid, objid, objsubid from pg_locks where granted and locktype = 'advisory' and pid = pg_backend_pid())`;
    while (waits().length < 3) {
      const { rows } = await locking.query<{ count: number }>(waitingNow);
      expect(rows[0]!.count).toBeLessThanOrEqual(1);
      await delay(10);
    }
    await expectRefusal(create(tenant, repeated), Code.Aborted, 'IDEMPOTENCY_KEY_IN_USE');
    await locking.query('commit');
    await expect(creating).resolves.toHaveLength(LIMIT);
  });

  it('checks the limit before whether the URL is taken', async () => {
    const tenant = newTenant();
    const url = newUrl();
    await create(tenant, { url });
    for (let n = 1; n < LIMIT; n += 1) await create(tenant);
    await expectRefusal(
      create(tenant, { url }),
      Code.FailedPrecondition,
      'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED',
    );
  });

  it('checks the syntax before the key, and the catalog, the URL and the host after it', async () => {
    const tenant = newTenant();
    const idempotencyKey = newKey();
    await create(tenant, { idempotencyKey });
    for (const malformed of [{ eventTypes: [] }, { eventTypes: [''] }, { url: 'a\0' }, { url: '' }]) {
      const created = create(tenant, { idempotencyKey, ...malformed });
      await expectRefusal(created, Code.InvalidArgument, 'INVALID_ARGUMENT');
    }
    const urls = ['http://example.com', 'https://a:b@example.com', 'https://10.0.0.1', 'https://localhost'];
    for (const other of [{ eventTypes: ['nothing.v1'] }, ...urls.map((url) => ({ url }))]) {
      const created = create(tenant, { idempotencyKey, ...other });
      await expectRefusal(created, Code.AlreadyExists, 'IDEMPOTENCY_KEY_REUSED');
    }
  });

  it('checks the catalog before the URL, and the URL before the limit', async () => {
    const tenant = newTenant();
    for (let n = 0; n < LIMIT; n += 1) await create(tenant);
    const [url, eventTypes] = ['http://example.com', ['nothing.v1']];
    const unknown = create(tenant, { url, eventTypes });
    await expectRefusal(unknown, Code.InvalidArgument, 'INVALID_EVENT_TYPE');
    for (const bad of [url, 'https://10.0.0.1/hook']) {
      await expectRefusal(create(tenant, { url: bad }), Code.InvalidArgument, 'INVALID_WEBHOOK_URL');
    }
  });
});
