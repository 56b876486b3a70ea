import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ResendState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, newWrite } from '../../../support/harness.ts';
import { lockWaits, openSession } from '../../../support/sql.ts';
import { answered, startWebhooks } from '../attempts/attempts-fixture.ts';
import { resendFixture } from './resend-fixture.ts';

const { COMPLETED, RUNNING } = ResendState;

const { harness, attempts } = await startWebhooks({ SERVICES: 'webhooks', WEBHOOK_SCHEDULE_SANDBOX: '0s' });
const fixture = resendFixture(harness, harness.transports.grpc, attempts);
beforeEach(async () => {
  await fixture.deliverAll();
  await fixture.claimAllCommands();
});

describe('a resend in progress', () => {
  it('continues despite failing deliveries, which follow their schedule', async () => {
    const tenant = newTenant();
    const { id } = await fixture.begun(tenant, 230);
    await fixture.goOn(id);
    expect(await fixture.goOn(id)).toMatchObject({ waiting: true, resend: { madeCount: 100n } });
    await fixture.deliverAll(500);
    const beyond = await fixture.goOn(id);
    expect(beyond).toMatchObject({ waiting: false, resend: { madeCount: 200n, openCount: 200n } });
    await fixture.deliverAll(200);
    expect(await fixture.goOn(id)).toMatchObject({
      more: false,
      resend: { state: RUNNING, madeCount: 230n, openCount: 130n, succeededCount: 100n },
    });
    await fixture.cancel(tenant, id);
  });

  it('keeps at most a hundred deliveries waiting for their first attempt, and creates all in the order of publication', async () => {
    const tenant = newTenant();
    const { id, eventIds } = await fixture.begun(tenant, 230);
    expect(await fixture.goOn(id)).toMatchObject({
      more: true,
      resend: { expectedCount: 230n, madeCount: 100n },
    });
    expect(await fixture.goOn(id)).toMatchObject({
      more: true,
      resend: { madeCount: 100n, openCount: 100n },
    });
    const due = await attempts.due(tenant.merchantId);
    await attempts.record(...due.slice(0, 30).map((attempt) => answered(attempt, 200)));
    const some = { madeCount: 130n, openCount: 100n, succeededCount: 30n };
    expect(await fixture.goOn(id)).toMatchObject({ more: true, resend: some });
    const done = await fixture.toEnd(id);
    expect(done).toMatchObject({ state: COMPLETED, madeCount: 230n, succeededCount: 230n, openCount: 0n });
    expect((await fixture.madeOf(id)).map(({ event_id }) => event_id)).toEqual(eventIds);
  });

  it('leaves capacity for new events beside any number of resends of a subscription', async () => {
    const tenant = newTenant();
    const { id, subscriptionId } = await fixture.begun(tenant, 120);
    const { id: other } = await fixture.again(tenant, subscriptionId);
    expect(await fixture.goOn(id, 60)).toMatchObject({ resend: { madeCount: 60n } });
    expect(await fixture.goOn(other)).toMatchObject({ more: true, resend: { madeCount: 40n } });
    expect(await fixture.goOn(id)).toMatchObject({ waiting: true, resend: { madeCount: 60n } });
    await fixture.deliverAll();
    expect(await fixture.goOn(id)).toMatchObject({ more: false, resend: { madeCount: 120n } });
    await fixture.cancel(tenant, other);
  });

  it('leaves that capacity also beside a resend that is being continued: the other does not wait for it, but is asked again', async () => {
    const tenant = newTenant();
    const { id, eventIds, subscriptionId } = await fixture.begun(tenant, 120);
    const { id: other } = await fixture.again(tenant, subscriptionId);
    await using holder = await openSession(harness.databaseUrl);
    await holder.query('begin; lock table webhooks.open_delivery in share mode');
    const step = fixture.goOn(id);
    await expect.poll(() => lockWaits(harness)).toHaveLength(1);
    const asked = { more: true, waiting: false, resend: { state: RUNNING, madeCount: 0n } };
    expect(await fixture.goOn(other)).toMatchObject(asked);
    await holder.query('rollback');
    await step;
    expect(await fixture.goOn(other)).toMatchObject({ more: true, waiting: true });
    expect(await attempts.due(tenant.merchantId)).toHaveLength(100);
    for (const each of [id, other]) {
      await fixture.deliverAll();
      expect(await fixture.toEnd(each)).toMatchObject({ state: COMPLETED, succeededCount: 120n });
      expect((await fixture.madeOf(each)).map(({ event_id }) => event_id)).toEqual(eventIds);
    }
  });

  it('creates no more at a time than requested, even for one event of several subscriptions', async () => {
    const tenant = newTenant();
    for (let n = 0; n < 3; n += 1) await fixture.subscribe(tenant);
    await fixture.deliverAll();
    const event = await fixture.publish(tenant);
    await fixture.deliverAll();
    const { id } = await fixture.resend(tenant, { case: 'eventId', value: event.id });
    expect(await fixture.goOn(id, 2)).toMatchObject({
      more: true,
      resend: { expectedCount: 3n, madeCount: 2n },
    });
    expect(await fixture.goOn(id, 2)).toMatchObject({ more: false, resend: { madeCount: 3n } });
    expect(new Set((await fixture.madeOf(id)).map(({ subscription_id }) => subscription_id)).size).toBe(3);
  });

  it('skips any number of unwanted events, in short steps', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    await fixture.deliverAll();
    const start = Date.now() - 60_000;
    const others = Array.from({ length: 4_100 }, (_, n) => start + n);
    await fixture.published(tenant, others, 'refund.failed.v1');
    const [wanted] = await fixture.published(tenant, [start + 20_000]);
    const { id, expectedCount } = await fixture.again(tenant, subscriptionId);
    expect(expectedCount).toBe(1n);
    expect(await fixture.goOn(id)).toMatchObject({ more: true, resend: { madeCount: 0n } });
    expect(await fixture.goOn(id)).toMatchObject({ more: true, resend: { madeCount: 0n } });
    expect(await fixture.goOn(id)).toMatchObject({ more: false, resend: { madeCount: 1n } });
    expect((await fixture.madeOf(id)).map(({ event_id }) => event_id)).toEqual([wanted]);
  });

  it('creates each delivery once under concurrent calls', async () => {
    const tenant = newTenant();
    const { id, eventIds } = await fixture.begun(tenant, 90);
    await Promise.all(Array.from({ length: 12 }, () => fixture.goOn(id, 10)));
    for (let more = true; more; ) ({ more } = await fixture.goOn(id, 10));
    expect((await fixture.madeOf(id)).map(({ event_id }) => event_id)).toEqual(eventIds);
  });

  it('has created none if its connection dies before the commit, and continues from there', async () => {
    const tenant = newTenant();
    const { id, eventIds, subscriptionId } = await fixture.begun(tenant, 5);
    await fixture.goOn(id, 2);
    await using locking = await openSession(harness.databaseUrl);
    await locking.query('begin');
    await locking.query('select from webhooks.subscription where id = $1 for update', [subscriptionId]);
    const killed = fixture.goOn(id, 2).then(
      () => 'answered',
      () => 'failed',
    );
    const blocked = `select pid from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0 and datname = current_database()`;
    const pids = await vi.waitFor(async () => {
      const rows = await fixture.sql<{ pid: number }>(blocked);
      expect(rows).toHaveLength(1);
      return rows;
    }, 40_000);
    await fixture.sql('select pg_terminate_backend($1)', [pids[0]!.pid]);
    expect(await killed).toBe('failed');
    await locking.end();
    expect(await fixture.madeOf(id)).toHaveLength(2);
    expect(await fixture.get(tenant, id)).toMatchObject({ madeCount: 2n });
    await fixture.goOn(id, 2);
    await fixture.goOn(id, 2);
    expect((await fixture.madeOf(id)).map(({ event_id }) => event_id)).toEqual(eventIds);
  });

  it('counts exhausted deliveries, including those dropped by retention', async () => {
    const tenant = newTenant(Environment.TEST);
    const { id } = await fixture.begun(tenant, 6);
    await fixture.goOn(id, 4);
    await fixture.deliverAll(500);
    await fixture.sql(
      `delete from webhooks.ended_delivery
        where id = (select id from webhooks.ended_delivery where resend_id = $1 limit 1)`,
      [id],
    );
    await fixture.goOn(id, 1);
    await fixture.deliverAll(200);
    const done = await fixture.toEnd(id, 500);
    expect(done).toMatchObject({ state: COMPLETED, madeCount: 6n, exhaustedCount: 5n, succeededCount: 1n });
  });

  it('holds its deliveries while the subscription is paused', async () => {
    const tenant = newTenant();
    const { id, subscriptionId } = await fixture.begun(tenant, 3);
    await fixture.sql('update webhooks.subscription set paused_at = now(), holding = true where id = $1', [
      subscriptionId,
    ]);
    await fixture.goOn(id);
    expect((await fixture.madeOf(id)).map(({ status }) => status)).toEqual(['HELD', 'HELD', 'HELD']);
    expect(await fixture.deliverAll()).toEqual([]);
    await fixture.cancel(tenant, id);
  });

  it('creates no more after its subscription was disabled, even if that is reactivated at once', async () => {
    const tenant = newTenant();
    const { id, subscriptionId } = await fixture.begun(tenant, 5);
    await fixture.goOn(id, 2);
    await fixture.disable(tenant, subscriptionId);
    const named = { ...newWrite(tenant), subscriptionId };
    await fixture.subscriptions.reactivateWebhookSubscription(named);
    const counts = { madeCount: 2n, canceledCount: 2n };
    expect(await fixture.goOn(id)).toMatchObject({ more: false, resend: { state: COMPLETED, ...counts } });
    await fixture.deliverAll();
  });
});
