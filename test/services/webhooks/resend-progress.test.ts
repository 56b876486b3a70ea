import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ResendState, WorkflowCommandKind } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, startHouse, type TestHouse } from '../../support/house.ts';
import { type ResendDesk, resendDesk } from './resend-desk.ts';
import { answered } from './webhooks-desk.ts';

const { COMPLETED } = ResendState;

let house: TestHouse;
let desk: ResendDesk;
beforeAll(async () => {
  house = await startHouse({ SERVICES: 'webhooks', WEBHOOK_SCHEDULE_SANDBOX: '0s' });
  desk = resendDesk(house, house.transports.grpc);
});
afterAll(() => house.close());
beforeEach(async () => {
  await desk.deliverAll();
  await desk.claimAllCommands();
});

describe('a resend that goes on', () => {
  it('keeps a hundred deliveries open, and makes all in the order of publishing', async () => {
    const tenant = newTenant();
    const { id, eventIds } = await desk.begun(tenant, 230);
    expect(await desk.goOn(id)).toMatchObject({
      more: true,
      resend: { expectedCount: 230n, madeCount: 100n },
    });
    expect(await desk.goOn(id)).toMatchObject({ more: true, resend: { madeCount: 100n, openCount: 100n } });
    const keys = await desk.claimKeys(30);
    await desk.report(
      ...(await Promise.all(keys.map(async (key) => answered(key.deliveryId, await desk.send(key), 200)))),
    );
    const some = { madeCount: 130n, openCount: 100n, succeededCount: 30n };
    expect(await desk.goOn(id)).toMatchObject({ more: true, resend: some });
    await desk.sql(`update webhooks.open_delivery set busy_since = null, busy_until = null`);
    const done = await desk.toEnd(id);
    expect(done).toMatchObject({ state: COMPLETED, madeCount: 230n, succeededCount: 230n, openCount: 0n });
    expect((await desk.madeOf(id)).map(({ event_id }) => event_id)).toEqual(eventIds);
  });

  it('makes no more at a time than it is asked for, one event of several subscriptions too', async () => {
    const tenant = newTenant();
    for (let n = 0; n < 3; n += 1) await desk.subscribe(tenant);
    await desk.deliverAll();
    const event = await desk.publish(tenant);
    await desk.deliverAll();
    const { id } = await desk.resend(tenant, { case: 'eventId', value: event.id });
    expect(await desk.goOn(id, 2)).toMatchObject({
      more: true,
      resend: { expectedCount: 3n, madeCount: 2n },
    });
    expect(await desk.goOn(id, 2)).toMatchObject({ more: false, resend: { madeCount: 3n } });
    expect(new Set((await desk.madeOf(id)).map(({ subscription_id }) => subscription_id)).size).toBe(3);
  });

  it('goes through any number of events that are not wanted, in short steps', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await desk.subscribe(tenant);
    await desk.deliverAll();
    const start = Date.now() - 60_000;
    const others = Array.from({ length: 4_100 }, (_, n) => start + n);
    await desk.published(tenant, others, 'refund.failed.v1');
    const [wanted] = await desk.published(tenant, [start + 20_000]);
    const { id, expectedCount } = await desk.again(tenant, subscriptionId);
    expect(expectedCount).toBe(1n);
    expect(await desk.goOn(id)).toMatchObject({ more: true, resend: { madeCount: 0n } });
    expect(await desk.goOn(id)).toMatchObject({ more: true, resend: { madeCount: 0n } });
    expect(await desk.goOn(id)).toMatchObject({ more: false, resend: { madeCount: 1n } });
    expect((await desk.madeOf(id)).map(({ event_id }) => event_id)).toEqual([wanted]);
  });

  it('makes none twice however often and at the same time it is asked', async () => {
    const tenant = newTenant();
    const { id, eventIds } = await desk.begun(tenant, 90);
    const asked = Array.from({ length: 12 }, () => desk.goOn(id, 10));
    const answers = await Promise.all(asked);
    expect(answers.filter(({ more }) => !more).length).toBeGreaterThan(0);
    expect((await desk.madeOf(id)).map(({ event_id }) => event_id)).toEqual(eventIds);
  });

  it('has made nothing when its connection dies before the commit, and goes on from there', async () => {
    const tenant = newTenant();
    const { id, eventIds, subscriptionId } = await desk.begun(tenant, 5);
    await desk.goOn(id, 2);
    const locking = new pg.Client({ connectionString: house.databaseUrl });
    await locking.connect();
    await locking.query('begin');
    await locking.query('select from webhooks.subscription where id = $1 for update', [subscriptionId]);
    const killed = desk.goOn(id, 2).then(
      () => 'answered',
      () => 'failed',
    );
    const blocked = `select pid from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0 and datname = current_database()`;
    const pids = await vi.waitFor(async () => {
      const rows = await desk.sql<{ pid: number }>(blocked);
      expect(rows).toHaveLength(1);
      return rows;
    });
    await desk.sql('select pg_terminate_backend($1)', [pids[0]!.pid]);
    expect(await killed).toBe('failed');
    await locking.end();
    expect(await desk.madeOf(id)).toHaveLength(2);
    expect(await desk.get(tenant, id)).toMatchObject({ madeCount: 2n });
    await desk.goOn(id, 2);
    await desk.goOn(id, 2);
    expect((await desk.madeOf(id)).map(({ event_id }) => event_id)).toEqual(eventIds);
  });

  it('lets a live event go before what it has made', async () => {
    const tenant = newTenant();
    const { id } = await desk.begun(tenant, 60);
    await desk.goOn(id);
    const live = await desk.publish(tenant);
    const keys = await desk.claimKeys(10);
    expect(keys).toHaveLength(10);
    const sent = await Promise.all(keys.map(async (key) => (await desk.send(key)).eventId));
    expect(sent).toContain(live.id);
    await desk.sql(`update webhooks.open_delivery set busy_since = null, busy_until = null, batch_id = null`);
    await desk.toEnd(id);
  });

  it('goes beside another of the same events, each with its own deliveries', async () => {
    const tenant = newTenant();
    const { id, subscriptionId, eventIds } = await desk.begun(tenant, 40);
    const other = await desk.again(tenant, subscriptionId);
    await Promise.all([desk.goOn(id), desk.goOn(other.id)]);
    await desk.deliverAll();
    for (const one of [id, other.id]) {
      expect(await desk.toEnd(one)).toMatchObject({ state: COMPLETED, madeCount: 40n, succeededCount: 40n });
      expect((await desk.madeOf(one)).map(({ event_id }) => event_id)).toEqual(eventIds);
    }
  });

  it('counts what is exhausted, and what retention has dropped as such', async () => {
    const tenant = newTenant(Environment.TEST);
    const { id } = await desk.begun(tenant, 6);
    await desk.goOn(id, 4);
    await desk.deliverAll(500);
    await desk.sql(
      `delete from webhooks.ended_delivery
        where id = (select id from webhooks.ended_delivery where resend_id = $1 limit 1)`,
      [id],
    );
    await desk.goOn(id, 1);
    await desk.deliverAll(200);
    const done = await desk.toEnd(id, 500);
    expect(done).toMatchObject({ state: COMPLETED, madeCount: 6n, exhaustedCount: 5n, succeededCount: 1n });
  });

  it('has its deliveries held while the subscription is paused', async () => {
    const tenant = newTenant();
    const { id, subscriptionId } = await desk.begun(tenant, 3);
    await desk.sql('update webhooks.subscription set paused_at = now(), holding = true where id = $1', [
      subscriptionId,
    ]);
    await desk.goOn(id);
    expect((await desk.madeOf(id)).map(({ status }) => status)).toEqual(['HELD', 'HELD', 'HELD']);
    expect(await desk.deliverAll()).toEqual([]);
    await desk.cancel(tenant, id);
  });

  it('makes no more once its subscription is disabled, and completes with the rest canceled', async () => {
    const tenant = newTenant();
    const { id, subscriptionId } = await desk.begun(tenant, 50);
    await desk.goOn(id, 20);
    await desk.disable(tenant, subscriptionId);
    const done = await desk.goOn(id);
    const counts = { madeCount: 20n, canceledCount: 20n, openCount: 0n };
    expect(done).toMatchObject({ more: false, resend: { state: COMPLETED, expectedCount: 50n, ...counts } });
  });
});

it('is started again when its workflow has not gone on for two minutes, and only then', async () => {
  const tenant = newTenant();
  const [lost, fresh, ended] = [
    await desk.begun(tenant, 1),
    await desk.begun(tenant, 1),
    await desk.begun(tenant, 1),
  ];
  await desk.toEnd(ended.id);
  await desk.claimAllCommands();
  await desk.sql(`update webhooks.resend set asked_at = now() - interval '90 seconds' where id = $1`, [
    fresh.id,
  ]);
  await desk.sql(`update webhooks.resend set asked_at = now() - interval '121 seconds' where id = any($1)`, [
    [lost.id, ended.id],
  ]);
  const restarted = await vi.waitFor(
    async () => {
      await desk.deliverAll();
      const commands = await desk.claimCommands();
      expect(commands.length).toBeGreaterThan(0);
      return commands;
    },
    { timeout: 5_000, interval: 200 },
  );
  expect(restarted).toMatchObject([{ kind: WorkflowCommandKind.START, workflowId: `resend-${lost.id}` }]);
  const [input] = JSON.parse(restarted[0]!.argumentsJson);
  const { merchantId } = tenant;
  expect(input).toEqual({
    ...{ resendId: lost.id, merchantId, environment: 'live' },
    subscriptionId: lost.subscriptionId,
  });
});
