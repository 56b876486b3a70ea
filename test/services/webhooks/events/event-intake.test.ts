import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Code, type ConnectError } from '@connectrpc/connect';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { EVENTS_CHANNEL } from '../../../../services/platform/outbox/outbox-signal.ts';
import {
  newKey,
  newTenant,
  startHarness,
  type TestHarness,
  type TestTenant,
} from '../../../support/harness.ts';
import { median } from '../../../support/quantile.ts';
import { openSession, sqlOf } from '../../../support/sql.ts';
import { eventually, startLanesFixture } from '../lanes/lanes-fixture.ts';
import { PAYMENT, webhooksFixture } from '../webhooks-fixture.ts';

const harness = await startHarness({ SERVICES: 'webhooks' });
afterAll(() => harness.close());

const events = () => webhooksFixture(harness, harness.transports.inProcess).events;
const publication = (tenant: TestTenant, objectId: string = randomUUID(), idempotencyKey = newKey()) => ({
  ...tenant,
  objectId,
  idempotencyKey,
  type: 'payment.succeeded.v1',
  data: PAYMENT,
});

const published = (tenant: TestTenant) =>
  sqlOf<{ id: string; object_id: string; sequence: string; transaction: string }>(
    harness,
    'select id, object_id, sequence, xmin::text as transaction from webhooks.event where merchant_id = $1',
    [tenant.merchantId],
  );

/** Milliseconds between the starts of the transactions that published events of this merchant. */
async function gapsBetweenTransactions(of: TestHarness, { merchantId }: TestTenant): Promise<number[]> {
  const starts = await sqlOf<{ ms: number }>(
    of,
    `select distinct extract(epoch from created_at)::float8 * 1000 as ms from platform.idempotency_record
      where merchant_id = $1 order by ms`,
    [merchantId],
  );
  return starts.slice(1).map(({ ms }, place) => Math.round(ms - starts[place]!.ms));
}

describe('events published concurrently', () => {
  it('share transactions, are numbered per object, and are returned as stored', async () => {
    const tenants = [newTenant(), newTenant(), newTenant()];
    const objects = ['a', 'b', 'c'];
    const calls = Array.from({ length: 250 }, (_, index) => {
      const request = publication(tenants[index % 3]!, objects[index % 7 < 3 ? 0 : index % 2]!);
      return { request, answer: events().publishEvent(request) };
    });
    const answered = await Promise.all(calls.map(({ answer }) => answer));
    const rows = (await Promise.all(tenants.map(published))).flat();
    expect(rows.length).toBe(250);
    expect(new Set(rows.map(({ transaction }) => transaction)).size).toBeLessThan(10);
    const stored = new Map(rows.map((row) => [row.id, row]));
    for (const { event } of answered) {
      expect(stored.get(event!.id)).toMatchObject({
        object_id: event!.objectId,
        sequence: String(event!.sequence),
      });
    }
    const byObject = Map.groupBy(answered, ({ event }) => `${event!.merchantId} ${event!.objectId}`);
    for (const numbered of byObject.values()) {
      const sequences = numbered.map(({ event }) => Number(event!.sequence));
      expect(sequences).toEqual(sequences.map((_, index) => index + 1));
    }
    const replayed = await Promise.all(
      calls.slice(0, 50).map(({ request }) => events().publishEvent(request)),
    );
    expect(replayed).toEqual(answered.slice(0, 50));
  });

  it('start their transactions at least five milliseconds apart', async () => {
    const tenant = newTenant();
    const calls: Promise<unknown>[] = [];
    for (let turn = 0; turn < 200; turn += 1) {
      calls.push(events().publishEvent(publication(tenant)));
      await delay(1);
    }
    await Promise.all(calls);
    // A timer may be a millisecond early; without the interval, most are 2 ms apart.
    expect(median(await gapsBetweenTransactions(harness, tenant))).toBeGreaterThan(3);
  });

  it('leave deliveries of the same process as much time as it was busy during their transaction', async () => {
    await using delivering = await startLanesFixture();
    const owner = newTenant(Environment.TEST);
    const held = (await delivering.subscribed(owner)).endpoint.hold();
    await delivering.publish(owner);
    await eventually(() => expect(held.count).toBe(1));
    const tenant = newTenant();
    const busy = setInterval(() => {
      const until = performance.now() + 40;
      while (performance.now() < until);
    });
    await Promise.all(
      Array.from({ length: 1_000 }, () => delivering.events.publishEvent(publication(tenant))),
    );
    clearInterval(busy);
    const gaps = await gapsBetweenTransactions(delivering.harness, tenant);
    // Full groups follow each other: without the pause, some start 40 ms after the one before.
    expect(Math.min(...gaps)).toBeGreaterThan(70);
    held.release(200);
  });

  it('follow each other at once while no delivery of the same process is under way, however busy it was', async () => {
    await using delivering = await startLanesFixture();
    const tenant = newTenant();
    using busy = vi.spyOn(performance, 'eventLoopUtilization');
    busy.mockReturnValue({ active: 100, idle: 0, utilization: 1 });
    await Promise.all(
      Array.from({ length: 1_000 }, () => delivering.events.publishEvent(publication(tenant))),
    );
    expect(Math.min(...(await gapsBetweenTransactions(delivering.harness, tenant)))).toBeLessThan(90);
  });

  it('are announced to other processes if they have deliveries', async () => {
    const [subscribed, other] = [newTenant(), newTenant()];
    await using listener = await openSession(harness.databaseUrl);
    let notifications = 0;
    listener.on('notification', () => {
      notifications += 1;
    });
    await listener.query(`listen ${EVENTS_CHANNEL}`);
    // Its ping is announced.
    await webhooksFixture(harness, harness.transports.inProcess).subscribe(subscribed);
    await expect.poll(() => notifications).toBe(1);
    await events().publishEvent(publication(other));
    await delay(50);
    expect(notifications).toBe(1);
    await events().publishEvent(publication(subscribed));
    await expect.poll(() => notifications).toBe(2);
  });

  it('are published once under the same key', async () => {
    const tenant = newTenant();
    const request = publication(tenant);
    const other = publication(tenant, randomUUID(), request.idempotencyKey);
    const outcomes = await Promise.allSettled(
      [request, request, other, publication(tenant)].map((asked) => events().publishEvent(asked)),
    );
    expect(outcomes[0]!.status).toBe('fulfilled');
    const refusal = (outcomes[2] as PromiseRejectedResult).reason as ConnectError;
    expect([Code.AlreadyExists, Code.Aborted]).toContain(refusal.code);
    expect(outcomes[3]!.status).toBe('fulfilled');
    expect(await published(tenant)).toHaveLength(2);
    expect(await events().publishEvent(request)).toEqual(
      (outcomes[0] as PromiseFulfilledResult<unknown>).value,
    );
  });

  it('do not wait for one whose object another transaction has locked: their transaction fails, and each gets its own', async () => {
    const [held, free] = [newTenant(), newTenant()];
    await events().publishEvent(publication(held, 'held'));
    await using holder = await openSession(harness.databaseUrl);
    await holder.query('begin');
    await holder.query('select from webhooks.object_sequence where merchant_id = $1 for update', [
      held.merchantId,
    ]);
    const waiting = events().publishEvent(publication(held, 'held'));
    const others = Array.from({ length: 5 }, () => events().publishEvent(publication(free)));
    const first = await Promise.race([waiting.then(() => 'the one that is held'), Promise.all(others)]);
    expect(first).toHaveLength(5);
    await holder.query('commit');
    expect((await waiting).event!.sequence).toBe(2n);
  });

  it('skip one whose caller has disconnected, and publish it when repeated', async () => {
    const tenant = newTenant();
    const [given, kept] = [publication(tenant), publication(tenant)];
    const caller = new AbortController();
    const gone = events().publishEvent(given, { signal: caller.signal });
    const stays = events().publishEvent(kept);
    caller.abort();
    await expect(gone).rejects.toMatchObject({ code: Code.Canceled });
    const { event } = await stays;
    expect((await published(tenant)).map(({ id }) => id)).toEqual([event!.id]);
    expect((await events().publishEvent(given)).event!.sequence).toBe(1n);
  });

  it('are published and answered when the service stops while they wait', async () => {
    const stopped = await startHarness({ SERVICES: 'webhooks' });
    const tenant = newTenant();
    const calls = 20;
    let arrived = 0;
    const allArrived = new Promise<void>((resolve) => {
      stopped.services.server.server.on('request', () => {
        arrived += 1;
        if (arrived === calls) resolve();
      });
    });
    const client = webhooksFixture(stopped, stopped.transports.connect).events;
    const answers = Promise.all(
      Array.from({ length: calls }, () => client.publishEvent(publication(tenant))),
    );
    await allArrived;
    await Promise.all([stopped.close(), answers]);
    const rows = await sqlOf<{ id: string }>(
      stopped,
      'select id from webhooks.event where merchant_id = $1 order by id',
      [tenant.merchantId],
    );
    expect(rows.map(({ id }) => id)).toEqual((await answers).map(({ event }) => event!.id).toSorted());
  });
});
