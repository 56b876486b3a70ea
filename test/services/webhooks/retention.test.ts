import { randomUUID } from 'node:crypto';
import { Code, createClient } from '@connectrpc/connect';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DeliveryStatus,
  DispatchService,
  WebhookSubscriptionState,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { metrics } from '../../../services/platform/telemetry.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newKey, newTenant, startHouse, type TestHouse } from '../../support/house.ts';
import { growOlder, partitionNames } from './webhook-past.ts';
import { answered, newUrl, type TestTenant, type WebhooksDesk, webhooksDesk } from './webhooks-desk.ts';

let house: TestHouse;
let desk: WebhooksDesk;
beforeAll(async () => {
  house = await startHouse();
  desk = webhooksDesk(house, house.transports.inProcess);
});
afterAll(() => house.close());
beforeEach(async () => {
  await deliverAll();
  await desk.dispatch.applyRetention({});
});

/** Makes every attempt that can be made now, each answered with this status. */
async function deliverAll(httpStatus = 204) {
  for (;;) {
    const keys = await desk
      .claim()
      .then(({ batches }) =>
        batches.flatMap(({ id: batchId, deliveryIds }) =>
          deliveryIds.map((deliveryId) => ({ deliveryId, batchId })),
        ),
      );
    if (keys.length === 0) return;
    const answers = await desk.ask(keys);
    const reports = answers.flatMap((answer, index) =>
      answer.case === 'send' ? [answered(keys[index]!.deliveryId, answer.value, httpStatus)] : [],
    );
    await desk.report(...reports);
  }
}

/** A connection of the test's own; it ends with the test. */
async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: house.databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** A merchant with a subscription, and an event that was delivered. */
async function delivered(tenant: TestTenant = newTenant()) {
  const subscription = await desk.subscribe(tenant);
  const event = await desk.publish(tenant);
  await deliverAll();
  const listed = await desk.deliveries.listDeliveries({ ...tenant, eventId: event.id });
  return { tenant, subscription, event, delivery: listed.deliveries[0]! };
}

const old = (names: readonly string[], days: number) => {
  const before = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  return names.filter((name) => name.slice(-8) < before);
};

/** Reads an old partition through its parent, in a transaction that stays open until the answer is called. */
async function readForLong(merchantId: string): Promise<() => Promise<void>> {
  const reader = await connect();
  await reader.query('begin isolation level repeatable read');
  await reader.query('select count(*) from webhooks.event where merchant_id = $1', [merchantId]);
  return async () => {
    await reader.query('commit');
  };
}

const detaching = () =>
  desk.sql(
    `select inhrelid::regclass::text as name from pg_inherits where inhdetachpending order by inhrelid::regclass::text`,
  );

describe('partitions', () => {
  const dropAll = async () => {
    const names = [...(await partitionNames(desk, 'live')), ...(await partitionNames(desk, 'test'))];
    await desk.sql(`drop table ${names.map((name) => `webhooks.${name}`).join(', ')}`);
  };

  it('are made before dispatch works: after a stop longer than they were made ahead it delivers at once', async () => {
    const live = newTenant();
    const sandbox = { ...live, environment: Environment.TEST };
    for (const tenant of [live, sandbox]) await desk.subscribe(tenant);
    await deliverAll();
    const waited = await desk.publish(live);
    // As a data folder lies that was stopped forty days ago, with an event that was not taken any more.
    const back = `update platform.outbox_event set id = webhooks.moved_id(id, interval '40 days') where id = $1 returning id`;
    await growOlder(desk, live.merchantId, '40 days');
    const [moved] = await desk.sql<{ id: string }>(back, [waited.id]);
    await dropAll();
    const restarted = webhooksDesk(house, await anotherProcess());
    const fresh = await desk.publish(sandbox);
    const { batches } = await restarted.claim();
    expect(batches.flatMap(({ deliveryIds }) => deliveryIds)).toHaveLength(2);
    for (const { id: batchId, deliveryIds } of batches) {
      for (const deliveryId of deliveryIds) await restarted.send({ deliveryId, batchId });
    }
    await desk.sql("update webhooks.batch set leased_until = now() - interval '1 s'");
    await desk.sql("update webhooks.open_delivery set busy_until = now() - interval '1 s'");
    const statuses = async (tenant: TestTenant, eventId: string) =>
      (await desk.deliveries.listDeliveries({ ...tenant, eventId })).deliveries.map(({ status }) => status);
    // Leases that have ended are looked for once a second.
    await vi.waitFor(async () => {
      await deliverAll();
      expect(await statuses(live, moved!.id)).toEqual([DeliveryStatus.SUCCEEDED]);
      expect(await statuses(sandbox, fresh.id)).toEqual([DeliveryStatus.SUCCEEDED]);
    }, 10_000);
  });

  it('are kept ahead by maintenance: live two weeks, sandbox three days', async () => {
    await dropAll();
    house.services.startMaintenance();
    const last = async (environment: 'live' | 'test', log: string) => {
      const names = (await partitionNames(desk, environment)).filter((name) => name.startsWith(log));
      return names.at(-1)?.slice(-8) ?? '';
    };
    const day = (days: number) =>
      new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
    for (const log of ['event', 'ended_delivery', 'attempt']) {
      await expect.poll(() => last('live', log), { timeout: 10_000 }).toMatch(/^2/);
      expect((await last('live', log)) > day(7)).toBe(true);
      expect(await last('test', log)).toBe(day(3));
    }
  });

  it('are made once by processes that start together', async () => {
    await dropAll();
    const starts = await Promise.all(Array.from({ length: 4 }, anotherProcess));
    const claims = starts.map((transport) => webhooksDesk(house, transport).claim());
    await expect(Promise.all(claims)).resolves.toHaveLength(4);
    expect(await desk.dispatch.applyRetention({})).toMatchObject({ createdPartitions: [] });
  });
});

describe('retention', () => {
  it('drops what is past it with all it holds, and keeps the rest', async () => {
    const gone = await delivered();
    const goneToo = await delivered(newTenant(Environment.TEST));
    const kept = await delivered();
    const keptToo = await delivered(newTenant(Environment.TEST));
    await growOlder(desk, gone.tenant.merchantId, '38 days');
    await growOlder(desk, goneToo.tenant.merchantId, '9 days');
    await growOlder(desk, kept.tenant.merchantId, '29 days');
    await growOlder(desk, keptToo.tenant.merchantId, '6 days');
    const before = { live: await partitionNames(desk, 'live'), test: await partitionNames(desk, 'test') };
    const answer = await desk.dispatch.applyRetention({});
    expect(answer).toMatchObject({ expiredDeliveries: 0n, waitingPartitions: [], more: false });
    const dropped = [...old(before.live, 30 + 6), ...old(before.test, 7)].sort();
    expect(answer.droppedPartitions.toSorted()).toEqual(dropped);
    expect(dropped.length).toBeGreaterThanOrEqual(3 + 3);
    expect([...(await partitionNames(desk, 'live')), ...(await partitionNames(desk, 'test'))]).toEqual(
      [...before.live, ...before.test].filter((name) => !dropped.includes(name)),
    );
    for (const { tenant } of [gone, goneToo]) {
      expect((await desk.deliveries.listDeliveries({ ...tenant })).deliveries).toEqual([]);
      expect((await desk.events.listEvents({ ...tenant })).events).toEqual([]);
    }
    for (const { tenant } of [kept, keptToo]) {
      const { deliveries } = await desk.deliveries.listDeliveries({ ...tenant });
      // The ping's too.
      expect(deliveries).toHaveLength(2);
      for (const { id: deliveryId, eventId } of deliveries) {
        expect((await desk.deliveries.getDelivery({ ...tenant, deliveryId })).attempts).toHaveLength(1);
        await desk.events.getEvent({ ...tenant, eventId });
      }
    }
    expect(await desk.dispatch.applyRetention({})).toMatchObject({ droppedPartitions: [] });
  });

  it('answers a delivery whose event is gone, with its attempts, and refuses what is gone itself', async () => {
    const { tenant, event, delivery, subscription } = await delivered();
    // Sent again later: a delivery of its own, newer than its event.
    const again = await desk.sql<{ id: string }>(
      `insert into webhooks.ended_delivery select merchant_id, environment, uuidv7(), subscription_id, event_id, event_type,
              object_id, sequence, request_id, uuidv7(), false, 'SUCCEEDED', 1, now(), batch_id
         from webhooks.ended_delivery where id = $1 returning id`,
      [delivery.id],
    );
    const fresh = again[0]!.id;
    await desk.sql(
      `insert into webhooks.attempt (merchant_id, environment, delivery_id, number, generation, started_at, ended_at, http_status)
       values ($1, 'live', $2, 1, 1, now(), now(), 200)`,
      [tenant.merchantId, fresh],
    );
    await growOlder(desk, tenant.merchantId, '38 days');
    await desk.sql(
      `update webhooks.ended_delivery set id = $1 where merchant_id = $2 and resend_id is not null`,
      [fresh, tenant.merchantId],
    );
    await desk.sql(
      `update webhooks.attempt set delivery_id = $1 where merchant_id = $2 and http_status = 200`,
      [fresh, tenant.merchantId],
    );
    const [{ eventId: goneEvent } = { eventId: '' }] = (
      await desk.deliveries.listDeliveries({ ...tenant, subscriptionId: subscription.id, pageSize: 1 })
    ).deliveries;
    expect((await desk.dispatch.applyRetention({})).droppedPartitions).not.toEqual([]);
    const { deliveries } = await desk.deliveries.listDeliveries({ ...tenant });
    expect(deliveries).toMatchObject([{ id: fresh, eventId: goneEvent, eventType: 'payment.succeeded.v1' }]);
    const answer = await desk.deliveries.getDelivery({ ...tenant, deliveryId: fresh });
    expect(answer).toMatchObject({
      delivery: { id: fresh, eventType: event.type, status: DeliveryStatus.SUCCEEDED },
      attempts: [{ number: 1, httpStatus: 200 }],
    });
    const getEvent = desk.events.getEvent({ ...tenant, eventId: goneEvent });
    await expectRefusal(getEvent, Code.NotFound, 'EVENT_NOT_FOUND');
    const getDelivery = desk.deliveries.getDelivery({ ...tenant, deliveryId: delivery.id });
    await expectRefusal(getDelivery, Code.NotFound, 'DELIVERY_NOT_FOUND');
  });

  it('gives up what is still open by then: EXHAUSTED, its subscription in ERROR with the reason', async () => {
    const stuck = await delivered();
    const fine = await delivered();
    await desk.publish(stuck.tenant);
    await desk.publish(fine.tenant);
    await deliverAll(500);
    const failing = await desk.publish(stuck.tenant);
    await deliverAll(500);
    const [resent] = await desk.sql<{ id: string }>(
      `select id from webhooks.open_delivery where merchant_id = $1 and event_id = $2`,
      [stuck.tenant.merchantId, failing.id],
    );
    await growOlder(desk, stuck.tenant.merchantId, '38 days');
    // The last one as sent again not long ago, of an event whose time is up.
    await desk.sql(`update webhooks.open_delivery set id = $1 where id = webhooks.moved_id($1, '38 days')`, [
      resent!.id,
    ]);
    // Why it was in ERROR before it was disabled and reactivated is not why it will be.
    await desk.sql(
      `update webhooks.subscription set state = 'PENDING', error_reason = 'of then', error_at = now() - interval '50 days' where id = $1`,
      [stuck.subscription.id],
    );
    const answer = await desk.dispatch.applyRetention({});
    expect(answer).toMatchObject({ expiredDeliveries: 2n, waitingPartitions: [], more: false });
    expect(answer.droppedPartitions.length).toBeGreaterThanOrEqual(3);
    expect(
      await desk.sql('select id from webhooks.open_delivery where merchant_id = $1', [
        stuck.tenant.merchantId,
      ]),
    ).toEqual([]);
    const { deliveries } = await desk.deliveries.listDeliveries(stuck.tenant);
    expect(deliveries).toMatchObject([{ id: resent!.id, status: DeliveryStatus.EXHAUSTED }]);
    const stateOf = async ({ tenant, subscription: { id: subscriptionId } }: typeof stuck) =>
      (await desk.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId })).subscription;
    expect(await stateOf(stuck)).toMatchObject({
      state: WebhookSubscriptionState.ERROR,
      errorReason: 'a delivery was given up: it was still open 30 days after its event',
    });
    expect(await stateOf(fine)).toMatchObject({ state: WebhookSubscriptionState.ACTIVE });
    // Its workflow ends.
    expect(await desk.ask([{ deliveryId: resent!.id }])).toMatchObject([{ case: 'skip' }]);
    expect(await metrics.metrics()).toMatch(
      /payments_webhook_expired_deliveries_total\{environment="live"\} 2/,
    );
  });

  it('gives up any number, also those of a subscription that is paused or held', async () => {
    const tenant = newTenant();
    const { id } = await desk.subscribe(tenant);
    await deliverAll();
    await growOlder(desk, tenant.merchantId, '38 days');
    await desk.sql(
      `insert into webhooks.open_delivery
         (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
          status, attempt_count, next_attempt_at)
       select merchant_id, environment, webhooks.moved_id(uuidv7(), '38 days'), id,
              webhooks.moved_id(uuidv7(), '38 days'), 'payment.succeeded.v1', n::text, 1, n::text, false, 'HELD', 0, now()
         from webhooks.subscription cross join generate_series(1, 1200) as n where id = $1`,
      [id],
    );
    await desk.sql('update webhooks.subscription set paused_at = now(), holding = true where id = $1', [id]);
    expect(await desk.dispatch.applyRetention({})).toMatchObject({ expiredDeliveries: 1_200n, more: false });
    expect(await desk.sql('select id from webhooks.open_delivery where subscription_id = $1', [id])).toEqual(
      [],
    );
  });

  it('lets the next event of an object go where it gives up an earlier one', async () => {
    const tenant = newTenant();
    const write = { ...tenant, idempotencyKey: newKey() };
    const about = { url: newUrl(), eventTypes: ['payment.succeeded.v1'], ordered: true };
    await desk.subscriptions.createWebhookSubscription({ ...write, ...about });
    await deliverAll();
    const objectId = randomUUID();
    await desk.publish(tenant, objectId);
    await deliverAll(500);
    await growOlder(desk, tenant.merchantId, '38 days');
    const { id: eventId } = await desk.publish(tenant, objectId);
    await deliverAll();
    const status = async () =>
      (await desk.deliveries.listDeliveries({ ...tenant, eventId })).deliveries[0]!.status;
    expect(await status()).toBe(DeliveryStatus.BLOCKED);
    expect(await desk.dispatch.applyRetention({})).toMatchObject({ expiredDeliveries: 1n });
    expect(await status()).toBe(DeliveryStatus.PENDING);
    await deliverAll();
    expect(await status()).toBe(DeliveryStatus.SUCCEEDED);
  });

  it('keeps what is old and still waits for dispatch', async () => {
    const { tenant } = await delivered();
    await growOlder(desk, tenant.merchantId, '38 days');
    const waiting = await desk.publish(newTenant());
    await desk.sql(
      `update platform.outbox_event set id = webhooks.moved_id(id, interval '38 days') where id = $1`,
      [waiting.id],
    );
    expect((await desk.dispatch.applyRetention({})).droppedPartitions).toEqual([]);
    await deliverAll();
    expect((await desk.dispatch.applyRetention({})).droppedPartitions).not.toEqual([]);
  });

  it('is applied by one of two at a time', async () => {
    const { tenant } = await delivered();
    await growOlder(desk, tenant.merchantId, '38 days');
    const finish = await readForLong(tenant.merchantId);
    const other = createClient(DispatchService, await anotherProcess());
    const first = desk.dispatch.applyRetention({});
    await expect.poll(detaching).not.toEqual([]);
    await expectRefusal(other.applyRetention({}), Code.Aborted, 'RETENTION_RUNNING');
    expect((await first).waitingPartitions).not.toEqual([]);
    await finish();
    expect((await other.applyRetention({})).droppedPartitions).not.toEqual([]);
  });
});

describe('an interrupted drop', () => {
  const isGone = async (names: readonly string[]) => {
    const left = await partitionNames(desk, 'live');
    return names.filter((name) => left.includes(name));
  };

  it('that met a long reader lets it end, and goes on the next time', async () => {
    const { tenant } = await delivered();
    await growOlder(desk, tenant.merchantId, '38 days');
    const due = old(await partitionNames(desk, 'live'), 36);
    const finish = await readForLong(tenant.merchantId);
    const first = await desk.dispatch.applyRetention({});
    expect(first.waitingPartitions.filter((name) => name.startsWith('event_'))).not.toEqual([]);
    expect([...first.droppedPartitions, ...first.waitingPartitions].toSorted()).toEqual(due);
    expect(await detaching()).not.toEqual([]);
    await finish();
    const second = await desk.dispatch.applyRetention({});
    expect(second.waitingPartitions).toEqual([]);
    expect([...first.droppedPartitions, ...second.droppedPartitions].toSorted()).toEqual(due);
    expect(await isGone(due)).toEqual([]);
  });

  it('that was killed while it waited is finalized', async () => {
    const { tenant } = await delivered();
    await growOlder(desk, tenant.merchantId, '38 days');
    const due = old(await partitionNames(desk, 'live'), 36);
    const finish = await readForLong(tenant.merchantId);
    const ended = desk.dispatch.applyRetention({}).then(
      () => 'applied',
      () => 'failed',
    );
    const kill = `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query like 'alter table%concurrently' and wait_event_type = 'Lock'`;
    await expect.poll(() => desk.sql(kill)).toHaveLength(1);
    expect(await ended).toBe('failed');
    expect(await detaching()).not.toEqual([]);
    await finish();
    expect((await desk.dispatch.applyRetention({})).waitingPartitions).toEqual([]);
    expect(await isGone(due)).toEqual([]);
  });

  it('that had detached is dropped, and the other logs with it', async () => {
    const { tenant } = await delivered();
    await growOlder(desk, tenant.merchantId, '38 days');
    const due = old(await partitionNames(desk, 'live'), 36);
    const name = due.find((one) => one.startsWith('attempt'))!;
    await desk.sql(`alter table webhooks.attempt_live detach partition webhooks.${name} concurrently`);
    expect((await desk.dispatch.applyRetention({})).droppedPartitions.toSorted()).toEqual(due);
    expect(await isGone(due)).toEqual([]);
  });

  it('goes on wherever it was killed', async () => {
    for (let statements = 1; statements <= 6; statements += 1) {
      const { tenant } = await delivered();
      await growOlder(desk, tenant.merchantId, '38 days');
      const due = old(await partitionNames(desk, 'live'), 36);
      await killAfter(statements);
      await desk.dispatch.applyRetention({}).catch(() => undefined);
      await killAfter(undefined);
      expect(await isGone(due)).not.toEqual([]);
      expect((await desk.dispatch.applyRetention({})).waitingPartitions).toEqual([]);
      expect(await isGone(due)).toEqual([]);
    }
  });

  /** Has the server end the connection that changes tables, at the start of its so-manieth change. */
  async function killAfter(statements: number | undefined) {
    await desk.sql('drop event trigger if exists killer');
    if (statements === undefined) return;
    await desk.sql('drop sequence if exists public.changes');
    await desk.sql('create sequence public.changes');
    await desk.sql(`create or replace function public.kill_after() returns event_trigger language plpgsql as $$
      begin
        if nextval('public.changes') > ${statements - 1} and tg_tag in ('ALTER TABLE', 'DROP TABLE') then
          perform pg_terminate_backend(pg_backend_pid());
        end if;
      end $$`);
    await desk.sql('create event trigger killer on ddl_command_start execute function public.kill_after()');
  }
});

/** The services as another process has them, on the same database. */
async function anotherProcess() {
  const { createServices } = await import('../../../services/server.ts');
  const { createLogger } = await import('../../../services/platform/telemetry.ts');
  const { config, databaseUrl } = house;
  const services = await createServices({ config, databaseUrl, logger: createLogger('fatal') });
  onTestFinished(() => services.close());
  return services.transportFor({
    name: `test-${randomUUID()}`,
    grants: new Set(['dispatch', 'webhooks:read']),
  });
}
