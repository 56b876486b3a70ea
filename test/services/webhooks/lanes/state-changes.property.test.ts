import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, expect, it, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ResendState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { MINUTE_MS } from '../../../../services/platform/durations.ts';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { openSession } from '../../../support/sql.ts';
import { PAYMENT } from '../webhooks-fixture.ts';
import { type Endpoint, type LanesFixture, startLanesFixture } from './lanes-fixture.ts';

const webhooks = await startLanesFixture();
afterAll(() => webhooks[Symbol.asyncDispose]());

interface Subscriber {
  readonly id: string;
  readonly endpoint: Endpoint;
  enabled: boolean;
  paused: boolean;
  /** Whether its event types include the published one. */
  wants: boolean;
}

const TYPES = ['payment.succeeded.v1', 'refund.requested.v1'];

/** Concurrent steps; each subscriber is changed by at most one. */
const wave = fc.record({
  publish: fc.integer({ min: 1, max: 4 }),
  subscribe: fc.boolean(),
  toggle: fc.subarray([0, 1, 2]),
  retype: fc.subarray([0, 1, 2]),
  /** Pauses them, or resumes them. */
  pause: fc.subarray([0, 1, 2]),
  /** Whether what a reactivated subscription missed is requested twice. */
  twice: fc.boolean(),
  /** How often each resend is continued; each time it makes at most two deliveries. */
  steps: fc.integer({ min: 0, max: 3 }),
});
type Wave = typeof wave extends fc.Arbitrary<infer Value> ? Value : never;
const NO_CHANGE: Wave = {
  publish: 1,
  subscribe: false,
  toggle: [],
  retype: [],
  pause: [],
  twice: false,
  steps: 0,
};

/** Which of the events that were published meanwhile a subscriber receives, by their positions. */
type Receives = 'all' | 'none' | 'those before a change' | 'those after a change';

interface Published {
  readonly eventIds: readonly string[];
  /**
   * Subscribers that were disabled or reactivated then or later may receive more than they miss, so they appear only with
   * 'all': a resend sends the missed events that they want by now, from the start of any resend that had not ended.
   */
  readonly receives: Map<Subscriber, Receives>;
}

/** A resend of what a subscriber missed. */
interface Resend {
  readonly id: string;
  readonly subscriber: Subscriber;
}

/** What became of an event's deliveries to a subscription, oldest first. */
interface Deliveries {
  readonly event_id: string;
  readonly subscription_id: string;
  readonly statuses: readonly string[];
  readonly attempts: number;
  readonly overlapping: boolean;
}

/** A merchant whose subscriptions change while its events are published. */
class Merchant {
  readonly tenant: TestTenant = newTenant(Environment.TEST);
  readonly #subscribers: Subscriber[] = [];
  readonly #published: Published[] = [];
  readonly #resends = new Set<Resend>();

  async play({ publish, subscribe, toggle, retype, pause, twice, steps }: Wave) {
    const known = [...this.#subscribers];
    const toggled = toggle.flatMap((at) => known[at] ?? []);
    const retyped = retype.flatMap((at) => known[at] ?? []).filter((each) => !toggled.includes(each));
    const paused = pause
      .flatMap((at) => known[at] ?? [])
      .filter((each) => each.enabled && !toggled.includes(each) && !retyped.includes(each));
    for (const { receives: earlier } of this.#published) {
      for (const subscriber of toggled) if (earlier.get(subscriber) !== 'all') earlier.delete(subscriber);
    }
    const receives = new Map<Subscriber, Receives>();
    for (const subscriber of known) {
      const { wants, enabled } = subscriber;
      if (retyped.includes(subscriber)) {
        if (enabled) receives.set(subscriber, wants ? 'those before a change' : 'those after a change');
      } else if (wants) receives.set(subscriber, 'all');
      else if (enabled && !toggled.includes(subscriber)) receives.set(subscriber, 'none');
    }
    // A resend leaves out what its subscriber does not want by now.
    const resends = [...this.#resends].filter(
      ({ subscriber }) => subscriber.wants && !retyped.includes(subscriber),
    );
    const [eventIds, created] = await Promise.all([
      Promise.all(Array.from({ length: publish }, () => this.#publish())),
      subscribe && known.length < 3 ? this.#subscribe() : undefined,
      ...retyped.map((subscriber) => this.#retype(subscriber)),
      ...toggled.map((subscriber) => this.#toggle(subscriber, { twice, steps })),
      ...paused.map((subscriber) => this.#pause(subscriber)),
      ...resends.map((resend) => this.#step(resend, steps)),
    ]);
    if (created) receives.set(created, 'those after a change');
    this.#published.push({ eventIds, receives });
  }

  /** Resumes and enables all subscriptions, for every type, waits until all deliveries have ended, and accounts for every event. */
  async end() {
    for (const subscriber of this.#subscribers) if (subscriber.paused) await this.#pause(subscriber);
    for (const subscriber of this.#subscribers) if (!subscriber.wants) await this.#retype(subscriber);
    for (const subscriber of this.#subscribers) if (!subscriber.enabled) await this.#toggle(subscriber);
    await Promise.all([
      this.play({ ...NO_CHANGE, steps: 1 }),
      ...[...this.#resends].map((resend) => this.#finish(resend)),
    ]);
    await vi.waitFor(async () => expect(await this.#openDeliveries()).toEqual([]), { timeout: 30_000 });
    const inOrder = await this.#eventsByPosition();
    for (const { eventIds, receives } of this.#published) {
      const events = inOrder.filter((id) => eventIds.includes(id));
      for (const [{ endpoint }, which] of receives) {
        const received = events.filter((id) => endpoint.eventIds.includes(id));
        expect(received, which).toEqual(expectedOf(events, which, received.length));
      }
    }
    await vi.waitFor(() => this.#expectOnce(), { timeout: 10_000 });
  }

  async #publish() {
    const { id } = await webhooks.publish(this.tenant, 'object');
    return id;
  }

  #openDeliveries() {
    return webhooks.sql('select id from webhooks.open_delivery where merchant_id = $1', [
      this.tenant.merchantId,
    ]);
  }

  async #eventsByPosition() {
    const events = await webhooks.sql<{ id: string }>(
      'select id from webhooks.event where merchant_id = $1 order by position',
      [this.tenant.merchantId],
    );
    return events.map(({ id }) => id);
  }

  async #subscribe() {
    // The second one is ordered.
    const ordered = this.#subscribers.length === 1;
    const { id, endpoint } = await webhooks.subscribed(this.tenant, { eventTypes: TYPES, ordered });
    const subscriber = { id, endpoint, enabled: true, paused: false, wants: true };
    this.#subscribers.push(subscriber);
    return subscriber;
  }

  async #retype(subscriber: Subscriber) {
    subscriber.wants = !subscriber.wants;
    await webhooks.subscriptions.updateWebhookSubscription({
      ...newWrite(this.tenant),
      subscriptionId: subscriber.id,
      eventTypes: subscriber.wants ? TYPES : TYPES.slice(1),
    });
  }

  async #pause(subscriber: Subscriber) {
    const request = { ...newWrite(this.tenant), subscriptionId: subscriber.id };
    subscriber.paused = !subscriber.paused;
    if (subscriber.paused) await webhooks.subscriptions.pauseWebhookSubscription(request);
    else await webhooks.subscriptions.resumeWebhookSubscription(request);
  }

  async #toggle(subscriber: Subscriber, { twice, steps } = { twice: false, steps: 0 }) {
    const request = { ...newWrite(this.tenant), subscriptionId: subscriber.id };
    subscriber.enabled = !subscriber.enabled;
    if (!subscriber.enabled) {
      subscriber.paused = false;
      await webhooks.subscriptions.disableWebhookSubscription(request);
      // They are cut off, and their deliveries were canceled.
      const ended = [...this.#resends].filter((resend) => resend.subscriber === subscriber);
      for (const resend of ended) await this.#step(resend, 1);
      expect(ended.filter((resend) => this.#resends.has(resend))).toEqual([]);
      return;
    }
    const { missed } = await webhooks.subscriptions.reactivateWebhookSubscription(request);
    const resendMissed = async () => {
      const { resend } = await webhooks.deliveries.resendDeliveries({
        ...newWrite(request),
        selection: { case: 'missed', value: missed! },
      });
      const started = { id: resend!.id, subscriber };
      this.#resends.add(started);
      return started;
    };
    const resends = await Promise.all([resendMissed(), ...(twice ? [resendMissed()] : [])]);
    if (subscriber.wants) await Promise.all(resends.map((resend) => this.#step(resend, steps)));
  }

  /** Continues a resend some times at once, as several workers may that each believe they have its activity. */
  async #step(resend: Resend, times: number) {
    const step = async () => {
      const request = { resendId: resend.id, maxDeliveries: 2 };
      const { resend: after } = await webhooks.dispatch.continueResend(request);
      if (after!.state === ResendState.COMPLETED) this.#resends.delete(resend);
    };
    await Promise.all(Array.from({ length: times }, step));
  }

  /** Continues a resend as its workflow does. */
  async #finish(resend: Resend) {
    await vi.waitFor(
      async () => {
        await this.#step(resend, 1);
        expect(this.#resends).not.toContain(resend);
      },
      { timeout: 30_000, interval: 50 },
    );
  }

  /**
   * Every arrival is an attempt of a delivery. An event is sent again only after its delivery was canceled, and arrives
   * again only if that had been under way by then; what has succeeded is not sent again.
   */
  async #expectOnce() {
    const all = await webhooks.sql<Deliveries>(
      `select event_id, subscription_id, array_agg(status order by id) as statuses,
              sum(attempt_count)::integer as attempts, bool_or(made_at < previous_end) as overlapping
         from (select *, uuid_extract_timestamp(id) as made_at,
                      lag(ended_at) over (partition by event_id, subscription_id order by id) as previous_end
                 from webhooks.ended_delivery
                where merchant_id = $1 and event_type <> 'webhook.ping.v1') d
        group by event_id, subscription_id`,
      [this.tenant.merchantId],
    );
    for (const { id, endpoint } of this.#subscribers) {
      const deliveries = all.filter(({ subscription_id }) => subscription_id === id);
      for (const { event_id, statuses, attempts, overlapping } of deliveries) {
        const arrivals = endpoint.eventIds.filter((eventId) => eventId === event_id).length;
        expect({ arrivals, overlapping: overlapping ?? false }, statuses.join()).toEqual({
          arrivals: attempts,
          overlapping: false,
        });
        expect(arrivals).toBeLessThanOrEqual(statuses.length);
        expect(statuses.slice(0, -1).filter((status) => status !== 'CANCELED')).toEqual([]);
      }
      const known = new Set(deliveries.map(({ event_id }) => event_id));
      expect(endpoint.eventIds.filter((eventId) => !known.has(eventId))).toEqual([]);
    }
  }
}

/** The events that were to be received, where the change took place among those that were. */
function expectedOf(events: readonly string[], receives: Receives, count: number): string[] {
  switch (receives) {
    case 'all':
      return [...events];
    case 'none':
      return [];
    case 'those before a change':
      return events.slice(0, count);
    case 'those after a change':
      return events.slice(events.length - count);
  }
}

it('delivers every event to each endpoint while subscriptions change', async () => {
  const waves = fc.array(wave, { minLength: 4, maxLength: 8, size: 'max' });
  const property = fc.asyncProperty(waves, async (all) => {
    const merchant = new Merchant();
    await merchant.play({ ...NO_CHANGE, subscribe: true });
    for (const step of all) await merchant.play(step);
    await merchant.end();
  });
  await fc.assert(property, { numRuns: propertyRuns(3) });
});

const PUBLISH = 'select id from webhooks.publish($1::json)';
const eventOf = ({ merchantId }: TestTenant, occurredAt = new Date()) =>
  JSON.stringify([
    {
      merchant_id: merchantId,
      environment: 'test',
      type: 'payment.succeeded.v1',
      object_id: randomUUID(),
      request_id: 'request',
      occurred_at: occurredAt,
      data: PAYMENT,
    },
  ]);

type Subscribed = Awaited<ReturnType<LanesFixture['subscribed']>>;
type Change = (tenant: TestTenant) => Promise<() => Promise<Subscribed>>;

const write = (tenant: TestTenant, subscriptionId: string) => ({ ...newWrite(tenant), subscriptionId });

/** Prepares a change of a merchant's subscription. */
const CHANGES: Readonly<Record<string, Change>> = {
  creation: async (tenant) => () => webhooks.subscribed(tenant),
  'a new event type': async (tenant) => {
    const subscribed = await webhooks.subscribed(tenant, { eventTypes: TYPES.slice(1) });
    return async () => {
      const added = { ...write(tenant, subscribed.id), eventTypes: TYPES };
      await webhooks.subscriptions.updateWebhookSubscription(added);
      return subscribed;
    };
  },
  disabling: async (tenant) => {
    const subscribed = await webhooks.subscribed(tenant);
    return async () => {
      await webhooks.subscriptions.disableWebhookSubscription(write(tenant, subscribed.id));
      return subscribed;
    };
  },
  reactivation: async (tenant) => {
    const subscribed = await webhooks.subscribed(tenant);
    await webhooks.subscriptions.disableWebhookSubscription(write(tenant, subscribed.id));
    return async () => {
      await webhooks.subscriptions.reactivateWebhookSubscription(write(tenant, subscribed.id));
      return subscribed;
    };
  },
};

it.each(Object.entries(CHANGES))(
  'serializes %s with an event that is being published: it waits, and later events see it, whatever their clocks',
  async (name, prepare) => {
    const tenant = newTenant(Environment.TEST);
    const unchanged = await webhooks.subscribed(tenant);
    const change = await prepare(tenant);
    await using early = await openSession(webhooks.harness.databaseUrl);
    await using late = await openSession(webhooks.harness.databaseUrl);
    await early.query('begin');
    await late.query('begin');
    const publish = async (session: typeof early, clockMs: number): Promise<string> =>
      (await session.query(PUBLISH, [eventOf(tenant, new Date(Date.now() + clockMs))])).rows[0].id;
    // Its clock is a minute ahead: it occurs after the change.
    const inFlight = await publish(early, MINUTE_MS);
    let answered = false;
    const changing = change().finally(() => {
      answered = true;
    });
    await vi.waitFor(async () => {
      const waiting = await webhooks.sql("select from pg_locks where locktype = 'advisory' and not granted");
      expect(waiting).toHaveLength(1);
    }, 10_000);
    expect(answered).toBe(false);
    await early.query('commit');
    const { id, endpoint } = await changing;
    // One occurs before the change, and their transaction is older than it.
    const later = [await publish(late, -MINUTE_MS), await publish(late, MINUTE_MS)];
    await late.query('commit');
    const all = [inFlight, ...later].sort();
    await vi.waitFor(() => expect(unchanged.endpoint.eventIds.toSorted()).toEqual(all), 10_000);
    const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, subscriptionId: id });
    const eventIds = deliveries
      .filter(({ eventType }) => eventType === TYPES[0])
      .map(({ eventId }) => eventId);
    expect(eventIds.toSorted()).toEqual(name === 'disabling' ? [inFlight] : later.toSorted());
    if (name !== 'disabling')
      await vi.waitFor(() => expect(endpoint.eventIds.toSorted()).toEqual(eventIds.toSorted()), 10_000);
  },
);
