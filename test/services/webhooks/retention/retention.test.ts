import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Code, createClient } from '@connectrpc/connect';
import type pg from 'pg';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DeliveryStatus,
  DispatchService,
  SubscriptionErrorCause,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { createLogger, metrics } from '../../../../services/platform/process/telemetry.ts';
import { createServices, type Services } from '../../../../services/server.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { openSession } from '../../../support/sql.ts';
import { startWebhooks } from '../attempts/attempts-fixture.ts';
import { exhausted } from '../subscriptions/subscription-errors.ts';
import { backdate, partitionNames } from '../webhook-past.ts';
import { newUrl } from '../webhooks-fixture.ts';

const { harness, fixture, attempts } = await startWebhooks({});
beforeEach(async () => {
  await deliverAll();
  await fixture.dispatch.applyRetention({});
});

/** Records this status for every attempt that can be made now. */
const deliverAll = (httpStatus = 204) => attempts.answerAll(httpStatus);

/** A connection of the test's own; it ends with the test. */
async function connect(): Promise<pg.Client> {
  const client = await openSession(harness.databaseUrl);
  onTestFinished(() => client.end());
  return client;
}

/** A merchant with a subscription, and an event that was delivered. */
async function delivered(tenant: TestTenant = newTenant()) {
  const subscription = await fixture.subscribe(tenant);
  const event = await fixture.publish(tenant);
  await deliverAll();
  const listed = await fixture.deliveries.listDeliveries({ ...tenant, eventId: event.id });
  return { tenant, subscription, event, delivery: listed.deliveries[0]! };
}

const old = (names: readonly string[], days: number) => {
  const before = new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
  return names.filter((name) => name.slice(-8) < before);
};

/**
 * Reads an old partition through its parent, in a transaction that stays open until the returned function is called.
 */
async function openLongRead(merchantId: string): Promise<() => Promise<void>> {
  const reader = await connect();
  await reader.query('begin isolation level repeatable read');
  await reader.query('select count(*) from webhooks.event where merchant_id = $1', [merchantId]);
  return async () => {
    await reader.query('commit');
  };
}

const detaching = () =>
  fixture.sql(
    `select inhrelid::regclass::text as name from pg_inherits where inhdetachpending order by inhrelid::regclass::text`,
  );

async function expiredInLive(): Promise<number> {
  const { values } = await metrics.getSingleMetric('payments_webhook_expired_deliveries_total')!.get();
  return values.find(({ labels }) => labels.environment === 'live')!.value;
}

describe('partitions', () => {
  const day = (days: number) =>
    new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
  /** Drops those of the last three weeks and later. */
  const dropRecentPartitions = async () => {
    const names = [...(await partitionNames(fixture, 'live')), ...(await partitionNames(fixture, 'test'))];
    const recent = names.filter((name) => name.slice(-8) > day(-21));
    await fixture.sql(`drop table ${recent.map((name) => `webhooks.${name}`).join(', ')}`);
  };

  it('are created on start: after a stop longer than they were created ahead, events can be published at once', async () => {
    const live = newTenant();
    const sandbox = { ...live, environment: Environment.TEST };
    for (const tenant of [live, sandbox]) await fixture.subscribe(tenant);
    await deliverAll();
    const waiting = await fixture.publish(live);
    // As in a database that was stopped forty days ago.
    await backdate(fixture, live.merchantId, '40 days');
    const [moved] = await fixture.sql<{ id: string }>('select event_id as id from webhooks.open_delivery');
    expect(moved!.id).not.toBe(waiting.id);
    await dropRecentPartitions();
    await expect(fixture.publish(sandbox)).rejects.toThrow();
    harness.services.startPeriodicTasks();
    const fresh = await vi.waitFor(() => fixture.publish(sandbox), { timeout: 40_000 });
    expect((await deliverAll()).map(({ eventId }) => eventId)).toEqual([moved!.id, fresh.id]);
    const last = async (environment: 'live' | 'test', log: string) => {
      const names = (await partitionNames(fixture, environment)).filter((name) => name.startsWith(log));
      return names.at(-1)?.slice(-8) ?? '';
    };
    for (const log of ['event', 'ended_delivery', 'attempt']) {
      await expect.poll(() => last('live', log), { timeout: 40_000 }).toMatch(/^2/);
      expect((await last('live', log)) > day(7)).toBe(true);
      expect(await last('test', log)).toBe(day(7));
    }
  });

  it('are created once by processes that start together', async () => {
    await dropRecentPartitions();
    await Promise.all(Array.from({ length: 4 }, async () => (await anotherProcess()).startPeriodicTasks()));
    await expect.poll(() => partitionNames(fixture, 'test'), { timeout: 40_000 }).toHaveLength(3 * 8);
    expect(await fixture.dispatch.applyRetention({})).toMatchObject({ createdPartitions: [] });
  });
});

describe('retention', () => {
  it('drops expired partitions with everything in them, and keeps the rest', async () => {
    const gone = await delivered();
    const goneToo = await delivered(newTenant(Environment.TEST));
    const kept = await delivered();
    const keptToo = await delivered(newTenant(Environment.TEST));
    await backdate(fixture, gone.tenant.merchantId, '38 days');
    await backdate(fixture, goneToo.tenant.merchantId, '9 days');
    await backdate(fixture, kept.tenant.merchantId, '29 days');
    await backdate(fixture, keptToo.tenant.merchantId, '6 days');
    const before = {
      live: await partitionNames(fixture, 'live'),
      test: await partitionNames(fixture, 'test'),
    };
    const answer = await fixture.dispatch.applyRetention({});
    expect(answer).toMatchObject({ expiredDeliveries: 0n, waitingPartitions: [], more: false });
    const dropped = [...old(before.live, 30 + 6), ...old(before.test, 7)].sort();
    expect(answer.droppedPartitions.toSorted()).toEqual(dropped);
    expect(dropped.length).toBeGreaterThanOrEqual(3 + 3);
    expect([...(await partitionNames(fixture, 'live')), ...(await partitionNames(fixture, 'test'))]).toEqual(
      [...before.live, ...before.test].filter((name) => !dropped.includes(name)),
    );
    for (const { tenant } of [gone, goneToo]) {
      expect((await fixture.deliveries.listDeliveries({ ...tenant })).deliveries).toEqual([]);
      expect((await fixture.events.listEvents({ ...tenant })).events).toEqual([]);
    }
    for (const { tenant } of [kept, keptToo]) {
      const { deliveries } = await fixture.deliveries.listDeliveries({ ...tenant });
      // The ping's too.
      expect(deliveries).toHaveLength(2);
      for (const { id: deliveryId, eventId } of deliveries) {
        expect((await fixture.deliveries.getDelivery({ ...tenant, deliveryId })).attempts).toHaveLength(1);
        await fixture.events.getEvent({ ...tenant, eventId });
      }
    }
    expect(await fixture.dispatch.applyRetention({})).toMatchObject({ droppedPartitions: [] });
  });

  it('returns a delivery whose event was dropped, with its attempts, but not one that was dropped itself', async () => {
    const { tenant, event, delivery, subscription } = await delivered();
    // Sent again later: its own delivery, newer than its event.
    const again = await fixture.sql<{ id: string }>(
      `insert into webhooks.ended_delivery select merchant_id, environment, uuidv7(), subscription_id, event_id, event_type,
              object_id, sequence, request_id, uuidv7(), false, 'SUCCEEDED', 1, now(), null
         from webhooks.ended_delivery where id = $1 returning id`,
      [delivery.id],
    );
    const fresh = again[0]!.id;
    await fixture.sql(
      `insert into webhooks.attempt (merchant_id, environment, delivery_id, number, generation, started_at, ended_at, http_status)
       values ($1, 'live', $2, 1, 1, now(), now(), 200)`,
      [tenant.merchantId, fresh],
    );
    await backdate(fixture, tenant.merchantId, '38 days');
    await fixture.sql(
      `update webhooks.ended_delivery set id = $1 where merchant_id = $2 and resend_id is not null`,
      [fresh, tenant.merchantId],
    );
    await fixture.sql(
      `update webhooks.attempt set delivery_id = $1 where merchant_id = $2 and http_status = 200`,
      [fresh, tenant.merchantId],
    );
    const [{ eventId: goneEvent } = { eventId: '' }] = (
      await fixture.deliveries.listDeliveries({ ...tenant, subscriptionId: subscription.id, pageSize: 1 })
    ).deliveries;
    expect((await fixture.dispatch.applyRetention({})).droppedPartitions).not.toEqual([]);
    const { deliveries } = await fixture.deliveries.listDeliveries({ ...tenant });
    expect(deliveries).toMatchObject([{ id: fresh, eventId: goneEvent, eventType: 'payment.succeeded.v1' }]);
    const answer = await fixture.deliveries.getDelivery({ ...tenant, deliveryId: fresh });
    expect(answer).toMatchObject({
      delivery: { id: fresh, eventType: event.type, status: DeliveryStatus.SUCCEEDED },
      attempts: [{ number: 1, httpStatus: 200 }],
    });
    const getEvent = fixture.events.getEvent({ ...tenant, eventId: goneEvent });
    await expectRefusal(getEvent, Code.NotFound, 'EVENT_NOT_FOUND');
    const getDelivery = fixture.deliveries.getDelivery({ ...tenant, deliveryId: delivery.id });
    await expectRefusal(getDelivery, Code.NotFound, 'DELIVERY_NOT_FOUND');
  });

  it('ends deliveries still open by then as EXHAUSTED, with their subscription in ERROR and the reason', async () => {
    const stuck = await delivered();
    const fine = await delivered();
    await fixture.publish(stuck.tenant);
    await fixture.publish(fine.tenant);
    await deliverAll(500);
    const failing = await fixture.publish(stuck.tenant);
    await deliverAll(500);
    const [resent] = await fixture.sql<{ id: string }>(
      `select id from webhooks.open_delivery where merchant_id = $1 and event_id = $2`,
      [stuck.tenant.merchantId, failing.id],
    );
    await backdate(fixture, stuck.tenant.merchantId, '38 days');
    // The last one was resent recently, for an event past its retention.
    await fixture.sql(
      `update webhooks.open_delivery set id = $1, resend_id = uuidv7() where id = webhooks.moved_id($1, '38 days')`,
      [resent!.id],
    );
    // The error from before it was disabled and reactivated is not the reason for the new ERROR.
    await fixture.sql(
      `update webhooks.subscription set state = 'PENDING', error = $2, error_at = now() - interval '50 days' where id = $1`,
      [stuck.subscription.id, exhausted(4, { httpStatus: 500 })],
    );
    const expiredBefore = await expiredInLive();
    const answer = await fixture.dispatch.applyRetention({});
    expect(answer).toMatchObject({ expiredDeliveries: 2n, waitingPartitions: [], more: false });
    expect(answer.droppedPartitions.length).toBeGreaterThanOrEqual(3);
    expect(
      await fixture.sql('select id from webhooks.open_delivery where merchant_id = $1', [
        stuck.tenant.merchantId,
      ]),
    ).toEqual([]);
    const { deliveries } = await fixture.deliveries.listDeliveries(stuck.tenant);
    expect(deliveries).toMatchObject([{ id: resent!.id, status: DeliveryStatus.EXHAUSTED }]);
    const stateOf = async ({ tenant, subscription: { id: subscriptionId } }: typeof stuck) =>
      (await fixture.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId })).subscription;
    expect(await stateOf(stuck)).toMatchObject({
      state: WebhookSubscriptionState.ERROR,
      error: { cause: SubscriptionErrorCause.DELIVERY_EXPIRED, retentionDays: 30 },
    });
    expect(await stateOf(fine)).toMatchObject({ state: WebhookSubscriptionState.ACTIVE });
    // Its workflow ends.
    const { attemptNumber, state } = await fixture.dispatch.requestAttempt({ deliveryId: resent!.id });
    expect([attemptNumber, state!.status]).toEqual([undefined, DeliveryStatus.EXHAUSTED]);
    expect((await expiredInLive()) - expiredBefore).toBe(2);
  });

  it('ends any number of them, including those of a paused or held subscription', async () => {
    const tenant = newTenant();
    const { id } = await fixture.subscribe(tenant);
    await deliverAll();
    await backdate(fixture, tenant.merchantId, '38 days');
    await fixture.sql(
      `insert into webhooks.open_delivery
         (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id,
          ordered, status, attempt_count, next_attempt_at)
       select merchant_id, environment, webhooks.moved_id(uuidv7(), '38 days'), id, lane,
              webhooks.moved_id(uuidv7(), '38 days'), 'payment.succeeded.v1', n::text, 1, n::text, false, 'HELD', 0, now()
         from webhooks.subscription cross join generate_series(1, 1200) as n where id = $1`,
      [id],
    );
    await fixture.sql('update webhooks.subscription set paused_at = now(), holding = true where id = $1', [
      id,
    ]);
    expect(await fixture.dispatch.applyRetention({})).toMatchObject({
      expiredDeliveries: 1_200n,
      more: false,
    });
    expect(
      await fixture.sql('select id from webhooks.open_delivery where subscription_id = $1', [id]),
    ).toEqual([]);
  });

  it('unblocks the next event of an object when it ends an earlier one, whose workflow is not started again', async () => {
    const tenant = newTenant();
    const write = newWrite(tenant);
    const about = { url: newUrl(), eventTypes: ['payment.succeeded.v1'], ordered: true };
    await fixture.subscriptions.createWebhookSubscription({ ...write, ...about });
    await deliverAll();
    const objectId = randomUUID();
    await fixture.publish(tenant, objectId);
    await deliverAll(500);
    await backdate(fixture, tenant.merchantId, '38 days');
    await fixture.sql(
      `update platform.outbox_command c set workflow_id = 'delivery-' || d.id
         from webhooks.open_delivery d where d.merchant_id = $1 and c.merchant_id = $1 and c.kind = 'START'`,
      [tenant.merchantId],
    );
    const { id: eventId } = await fixture.publish(tenant, objectId);
    await deliverAll();
    const status = async () =>
      (await fixture.deliveries.listDeliveries({ ...tenant, eventId })).deliveries[0]!.status;
    expect(await status()).toBe(DeliveryStatus.BLOCKED);
    expect(await fixture.dispatch.applyRetention({})).toMatchObject({ expiredDeliveries: 1n });
    expect(await status()).toBe(DeliveryStatus.PENDING);
    const started = `select workflow_id from platform.outbox_command where merchant_id = $1 and workflow_type = 'retryDelivery'`;
    expect(await fixture.sql(started, [tenant.merchantId])).toEqual([]);
    await deliverAll();
    expect(await status()).toBe(DeliveryStatus.SUCCEEDED);
  });

  it('keeps old deliveries that were never attempted for as long again', async () => {
    const { tenant } = await delivered();
    await fixture.publish(tenant);
    await backdate(fixture, tenant.merchantId, '38 days');
    expect(await fixture.dispatch.applyRetention({})).toMatchObject({
      expiredDeliveries: 0n,
      droppedPartitions: [],
    });
    expect(await deliverAll()).toHaveLength(1);
    expect((await fixture.dispatch.applyRetention({})).droppedPartitions).not.toEqual([]);
  });

  it('runs in one of two concurrent calls at a time', async () => {
    const { tenant } = await delivered();
    await backdate(fixture, tenant.merchantId, '38 days');
    const finish = await openLongRead(tenant.merchantId);
    const other = createClient(DispatchService, transportOf(await anotherProcess()));
    const first = fixture.dispatch.applyRetention({});
    await expect.poll(detaching).not.toEqual([]);
    await expectRefusal(other.applyRetention({}), Code.Aborted, 'RETENTION_RUNNING');
    expect((await first).waitingPartitions).not.toEqual([]);
    await finish();
    expect((await other.applyRetention({})).droppedPartitions).not.toEqual([]);
  });

  it('keeps its lock while it waits longer than a transaction may be idle', async () => {
    const tenant = newTenant();
    const { id } = await fixture.subscribe(tenant);
    await deliverAll();
    await fixture.publish(tenant);
    await deliverAll(500);
    await backdate(fixture, tenant.merchantId, '38 days');
    const holder = await connect();
    await holder.query('begin');
    await holder.query('select from webhooks.subscription where id = $1 for update', [id]);
    const applying = fixture.dispatch.applyRetention({});
    await delay(11_000);
    await holder.query('commit');
    expect((await applying).expiredDeliveries).toBe(1n);
  });
});

describe('an interrupted drop', () => {
  const isGone = async (names: readonly string[]) => {
    const left = await partitionNames(fixture, 'live');
    return names.filter((name) => left.includes(name));
  };

  it('that was killed while it waited is finalized', async () => {
    const { tenant } = await delivered();
    await backdate(fixture, tenant.merchantId, '38 days');
    const due = old(await partitionNames(fixture, 'live'), 36);
    const finish = await openLongRead(tenant.merchantId);
    const ended = fixture.dispatch.applyRetention({}).then(
      () => 'applied',
      () => 'failed',
    );
    const kill = `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query like 'alter table%concurrently' and wait_event_type = 'Lock'`;
    await expect.poll(() => fixture.sql(kill)).toHaveLength(1);
    expect(await ended).toBe('failed');
    expect(await detaching()).not.toEqual([]);
    await finish();
    expect((await fixture.dispatch.applyRetention({})).waitingPartitions).toEqual([]);
    expect(await isGone(due)).toEqual([]);
  });

  it('continues wherever it was killed', async () => {
    for (let statements = 1; statements <= 6; statements += 1) {
      const { tenant } = await delivered();
      await backdate(fixture, tenant.merchantId, '38 days');
      const due = old(await partitionNames(fixture, 'live'), 36);
      await killAfter(statements);
      await fixture.dispatch.applyRetention({}).catch(() => undefined);
      await killAfter(undefined);
      expect(await isGone(due)).not.toEqual([]);
      expect((await fixture.dispatch.applyRetention({})).waitingPartitions).toEqual([]);
      expect(await isGone(due)).toEqual([]);
    }
  });

  /** Makes the server end the connection that changes tables, at the start of its n-th change. */
  async function killAfter(statements: number | undefined) {
    await fixture.sql('drop event trigger if exists killer');
    if (statements === undefined) return;
    await fixture.sql('drop sequence if exists public.changes');
    await fixture.sql('create sequence public.changes');
    await fixture.sql(`create or replace function public.kill_after() returns event_trigger language plpgsql as $$
      begin
        if nextval('public.changes') > ${statements - 1} and tg_tag in ('ALTER TABLE', 'DROP TABLE') then
          perform pg_terminate_backend(pg_backend_pid());
        end if;
      end $$`);
    await fixture.sql(
      'create event trigger killer on ddl_command_start execute function public.kill_after()',
    );
  }
});

/** The services of another process, on the same database. */
async function anotherProcess() {
  const { config, databaseUrl } = harness;
  const services = await createServices({ config, databaseUrl, logger: createLogger('fatal') });
  onTestFinished(() => services.close());
  return services;
}

const transportOf = (services: Services) =>
  services.transportFor({ name: `test-${randomUUID()}`, grants: new Set(['dispatch', 'webhooks:read']) });
