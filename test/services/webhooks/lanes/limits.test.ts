import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { eventually, startLanesFixture } from './lanes-fixture.ts';

/** Limits take effect within a second. */
const IN_EFFECT_MS = 1_000;

let tenant: TestTenant;
const webhooks = await startLanesFixture();
afterAll(() => webhooks[Symbol.asyncDispose]());
beforeEach(() => {
  tenant = newTenant(Environment.TEST);
});

interface Limits {
  readonly maxConcurrentAttempts?: number;
  readonly maxAttemptsPerSecond?: number;
}

async function limitTo(subscriptionId: string, limits: Limits): Promise<void> {
  await webhooks.subscriptions.setDeliveryLimits({ ...newWrite(tenant), subscriptionId, ...limits });
  await delay(IN_EFFECT_MS);
}

/** A subscription with limits that the owner of its lane knows. */
async function limited(limits: Limits) {
  const subscribed = await webhooks.subscribed(tenant);
  await limitTo(subscribed.id, limits);
  return subscribed;
}

const publish = (count: number) => webhooks.publishMany(tenant, count);

/** Adds deliveries of an event, like resends. */
const resend = (eventId: string, subscriptionId: string, count: number) =>
  webhooks.sql(
    `insert into webhooks.open_delivery
       (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id,
        resend_id, ordered, status, attempt_count, next_attempt_at)
     select merchant_id, environment, uuidv7(), $2, webhooks.lane_of($2), id, type, object_id, sequence, request_id, $3,
            false, 'PENDING', 0, now() from webhooks.event cross join generate_series(1, $4::int) where id = $1`,
    [eventId, subscriptionId, randomUUID(), count],
  );

describe('a limit of attempts in flight', () => {
  it('starts no more until some end', async () => {
    const { endpoint } = await limited({ maxConcurrentAttempts: 3 });
    const held = endpoint.hold();
    const events: string[] = [];
    // One by one, because attempts that start together may arrive in any order.
    for (let sent = 1; sent <= 3; sent += 1) {
      events.push(...(await publish(1)));
      await eventually(() => expect(endpoint.eventIds).toHaveLength(sent));
    }
    events.push(...(await publish(5)));
    for (let sent = 3; sent <= events.length; sent += 1) {
      await eventually(() => expect(endpoint.eventIds).toHaveLength(sent));
      await delay(30);
      expect(endpoint.eventIds).toHaveLength(sent);
      held.release(200, 1);
    }
    held.release(200);
    await eventually(async () => expect(await webhooks.statuses(tenant)).toEqual(Array(8).fill('SUCCEEDED')));
    expect(endpoint.eventIds).toEqual(events);
  });

  it('is also a limit of connections: an attempt that follows another uses the same one', async () => {
    const other = (await webhooks.subscribed(tenant)).endpoint;
    const { endpoint } = await limited({ maxConcurrentAttempts: 3 });
    const held = other.hold();
    const published = Promise.withResolvers<void>();
    const connections = new Set<Socket>();
    endpoint.answer(async ({ socket }, response) => {
      connections.add(socket);
      await published.promise;
      response.writeHead(200).end();
    });
    const events = await publish(30);
    // Other subscriptions of the merchant have limits of their own.
    await eventually(() => expect(held.count).toBeGreaterThan(3));
    other.answer(200);
    held.release(200);
    published.resolve();
    await eventually(() => expect(endpoint.eventIds.toSorted()).toEqual(events.toSorted()));
    expect(connections.size).toBe(3);
  });

  it('leaves no attempt of a delivery that is canceled while it waits in memory', async () => {
    const { endpoint } = await limited({ maxConcurrentAttempts: 1 });
    const held = endpoint.hold();
    const [first, canceled, last] = await publish(3);
    await eventually(() => expect(held.count).toBe(1));
    const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, eventId: canceled! });
    await webhooks.deliveries.cancelDelivery({ ...newWrite(tenant), deliveryId: deliveries[0]!.id });
    await delay(IN_EFFECT_MS);
    endpoint.answer(200);
    held.release(200);
    await eventually(() => expect(endpoint.eventIds).toEqual([first, last]));
  });

  it('counts retries, alone and together with new events', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    endpoint.answer(500);
    await publish(3);
    await eventually(async () => expect(await webhooks.statuses(tenant)).toEqual(Array(3).fill('RETRYING')));
    await limitTo(id, { maxConcurrentAttempts: 1 });
    const held = endpoint.hold();
    const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, subscriptionId: id });
    for (const { id: deliveryId, eventType } of deliveries) {
      if (eventType !== 'webhook.ping.v1') await webhooks.dispatch.requestAttempt({ deliveryId, now: true });
    }
    await publish(1);
    for (let sent = 4; sent <= 7; sent += 1) {
      await eventually(() => expect(endpoint.eventIds).toHaveLength(sent));
      await delay(30);
      expect(held.count).toBe(1);
      held.release(200);
    }
    await eventually(async () => expect(await webhooks.statuses(tenant)).toEqual(Array(4).fill('SUCCEEDED')));
  });
});

describe('a limit of attempts a second', () => {
  it('allows a burst of one second, then the rate; once it is lifted, all are sent', async () => {
    const { id, endpoint } = await limited({ maxAttemptsPerSecond: 4 });
    const times: number[] = [];
    endpoint.answer((_request, response) => {
      times.push(performance.now());
      response.writeHead(200).end();
    });
    await publish(40);
    await eventually(() => expect(times.length).toBeGreaterThanOrEqual(13));
    for (let first = 0; first + 8 < 13; first += 1) {
      // Four at once and four a second after that, measured where they arrive.
      expect(times[first + 8]! - times[first]!).toBeGreaterThan(700);
    }
    expect(times.length).toBeLessThan(30);
    await limitTo(id, {});
    await eventually(() => expect(times).toHaveLength(40));
    expect(new Set(endpoint.eventIds).size).toBe(40);
  });

  it('also holds for events that come one after the other', async () => {
    await limited({ maxAttemptsPerSecond: 1 });
    const startedAtMs = performance.now();
    for (let count = 1; count <= 4; count += 1) {
      await publish(1);
      await eventually(async () =>
        expect(await webhooks.statuses(tenant)).toEqual(Array(count).fill('SUCCEEDED')),
      );
    }
    expect(performance.now() - startedAtMs).toBeGreaterThan(2_500);
  });

  it('leaves nothing waiting, and sends nothing canceled, after the connection that reads deliveries is lost', async () => {
    const { endpoint } = await limited({ maxAttemptsPerSecond: 5 });
    const events = await publish(20);
    const lost = await webhooks.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query like '%changed as materialized%' and pid <> pg_backend_pid()`,
    );
    expect(lost).toHaveLength(1);
    const canceled = events.pop()!;
    const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, eventId: canceled });
    await webhooks.deliveries.cancelDelivery({ ...newWrite(tenant), deliveryId: deliveries[0]!.id });
    await eventually(() => expect(endpoint.eventIds.length).toBeGreaterThanOrEqual(events.length));
    await delay(IN_EFFECT_MS);
    expect(endpoint.eventIds.toSorted()).toEqual(events);
  });
});

describe('a resend', () => {
  it('sends the same body under the same webhook-id, after new events of its subscription', async () => {
    const { id, endpoint } = await limited({ maxConcurrentAttempts: 1 });
    const [resent] = await publish(1);
    await eventually(() => expect(endpoint.eventIds).toEqual([resent]));
    const held = endpoint.hold();
    await resend(resent!, id, 15);
    await eventually(() => expect(held.count).toBe(1));
    const fresh = await publish(3);
    // Read by the owner of the lane, but not sent.
    await delay(200);
    endpoint.answer(200);
    held.release(200);
    await eventually(() => expect(endpoint.eventIds).toHaveLength(1 + 15 + 3));
    expect(endpoint.eventIds.slice(2, 5)).toEqual(fresh);
    const sent = endpoint.requests.filter(({ headers }) => headers['webhook-id'] === resent);
    expect(sent).toHaveLength(1 + 15);
    expect(new Set(sent.map(({ body }) => body.toString())).size).toBe(1);
  });
});

describe('more resent deliveries than memory holds', () => {
  it('do not go before new events that were published since they were read', async () => {
    const { id, endpoint } = await limited({ maxConcurrentAttempts: 1 });
    const [first] = await publish(1);
    await eventually(() => expect(endpoint.eventIds).toEqual([first]));
    const held = endpoint.hold();
    await resend(first!, id, 210);
    await eventually(() => expect(held.count).toBe(1));
    await resend(first!, id, 790);
    await delay(IN_EFFECT_MS);
    endpoint.answer(200);
    held.release(200);
    await eventually(() => expect(endpoint.eventIds.length).toBeGreaterThan(300));
    // However fast the endpoint is, few are sent while the event is published.
    const again = endpoint.hold();
    await eventually(() => expect(again.count).toBe(1));
    const sent = endpoint.eventIds.length;
    const [fresh] = await publish(1);
    await delay(200);
    endpoint.answer(200);
    again.release(200);
    await eventually(() => expect(endpoint.eventIds).toContain(fresh));
    expect(endpoint.eventIds.indexOf(fresh!)).toBeLessThan(sent + 250);
  });
});

describe('an endpoint that hangs', () => {
  it('is sent few events until some end, and does not delay other endpoints', async () => {
    const slow = await webhooks.subscribed(tenant);
    const held = slow.endpoint.hold();
    await publish(60);
    const other = newTenant(Environment.TEST);
    const { endpoint } = await webhooks.subscribed(other);
    await eventually(() => expect(slow.endpoint.eventIds).toHaveLength(10));
    for (let n = 0; n < 20; n += 1) await webhooks.publish(other);
    await eventually(() => expect(endpoint.eventIds).toHaveLength(20));
    expect(slow.endpoint.eventIds).toHaveLength(10);
    slow.endpoint.answer(200);
    held.release(200);
    await eventually(() => expect(slow.endpoint.eventIds).toHaveLength(60));
  });
});
