import type { Arrival, Evidence, KnownSubscription, LoggedDelivery } from './records.ts';
import { explainRepeats } from './repeats.ts';

const PING = 'webhook.ping.v1';

/** Broken promises, one sentence each; empty lists if all were kept. */
export interface Reconciliation {
  /** Pairs of an event and a subscription that it had to reach. */
  readonly expected: number;
  /** Such pairs without an arrival. */
  readonly missing: readonly string[];
  /** Unrequested arrivals, deliveries and events. */
  readonly unwanted: readonly string[];
  /** Deliveries whose attempt log is incomplete, or differs from what the endpoint saw. */
  readonly badLogs: readonly string[];
  readonly outOfOrder: readonly string[];
  /** Resends that did not send each event once, or have not ended. */
  readonly badResends: readonly string[];
  /** Arrivals after one that got a 2xx response, by cause. */
  readonly duplicates: ReadonlyMap<string, number>;
  /** Arrivals without an attempt in the log, by cause. */
  readonly unrecorded: ReadonlyMap<string, number>;
  /** Duplicates and unrecorded arrivals that no fault explains. */
  readonly unexplained: readonly string[];
}

/** Compares accepted events with arrivals and with the log. */
export function reconcile(evidence: Evidence): Reconciliation {
  const known = new Map(evidence.subscriptions.map((subscription) => [subscription.id, subscription]));
  const arrivals = Map.groupBy(evidence.arrivals, keyOf);
  const deliveries = Map.groupBy(evidence.deliveries, ({ subscriptionId, eventId }) =>
    keyOf({ path: known.get(subscriptionId)?.path ?? subscriptionId, eventId }),
  );
  const { expected, missing } = findMissing(evidence, arrivals, deliveries);
  return {
    expected: expected.length,
    missing,
    unwanted: [...findUnexpected(evidence, known, arrivals), ...findDuplicateDeliveries(deliveries)],
    badLogs: evidence.deliveries.flatMap((delivery) => findLogFaults(delivery)),
    outOfOrder: findOutOfOrder(evidence, arrivals),
    badResends: findBadResends(evidence),
    ...explainRepeats(arrivals, deliveries, evidence.faults),
  };
}

/** Of an event and the subscription that a path belongs to. */
const keyOf = ({ path, eventId }: { path: string; eventId: string }) => `${path} ${eventId}`;

/** Events requested after the response to a subscription's creation must reach it; those accepted before must not. */
function findMissing(
  { accepted, subscriptions, deliveries }: Evidence,
  arrivals: ReadonlyMap<string, readonly Arrival[]>,
  logged: ReadonlyMap<string, readonly LoggedDelivery[]>,
) {
  const pings = deliveries.filter(({ eventType }) => eventType === PING);
  const pinged = new Map(pings.map(({ subscriptionId, eventId }) => [subscriptionId, eventId]));
  const expected = subscriptions.flatMap((subscription) => [
    keyOf({ path: subscription.path, eventId: pinged.get(subscription.id) ?? 'ping' }),
    ...accepted
      .filter((event) => matches(subscription, event) && event.askedAt > subscription.answeredAt)
      .map(({ id }) => keyOf({ path: subscription.path, eventId: id })),
  ]);
  const missing = expected.flatMap((key) => {
    if (!arrivals.has(key)) return [`${key}: never arrived`];
    return logged.has(key) ? [] : [`${key}: not in the delivery list`];
  });
  return { expected, missing };
}

const matches = (
  { merchantId, eventTypes }: KnownSubscription,
  event: { readonly merchantId: string; readonly type: string },
) => event.merchantId === merchantId && eventTypes.includes(event.type);

function findUnexpected(
  { accepted, subscriptions, events }: Evidence,
  known: ReadonlyMap<string, KnownSubscription>,
  arrivals: ReadonlyMap<string, readonly Arrival[]>,
): string[] {
  const byId = new Map(accepted.map((event) => [event.id, event]));
  const byPath = new Map([...known.values()].map((subscription) => [subscription.path, subscription]));
  const published = events.filter(({ type }) => type !== PING);
  const pings = events.length - published.length;
  const isExpected = ({ path, eventId, type }: Arrival) => {
    const subscription = byPath.get(path);
    const event = byId.get(eventId);
    if (!subscription || type === PING) return subscription !== undefined;
    return event && matches(subscription, event) && event.acceptedAt >= subscription.createdAtMs;
  };
  return [
    ...(byId.size === accepted.length ? [] : ['two publications were answered with the same event']),
    ...published.filter(({ id }) => !byId.has(id)).map(({ id }) => `${id}: published twice by one key`),
    ...(pings === subscriptions.length ? [] : [`${pings} pings of ${subscriptions.length} subscriptions`]),
    ...[...arrivals].flatMap(([key, [first]]) => (isExpected(first!) ? [] : [`${key}: not expected`])),
  ];
}

const findDuplicateDeliveries = (deliveries: ReadonlyMap<string, readonly LoggedDelivery[]>): string[] =>
  [...deliveries].flatMap(([key, all]) => {
    const { length } = all.filter(({ resendId }) => resendId === undefined);
    return length === 1 ? [] : [`${key}: ${length} deliveries`];
  });

function findBadResends({ resends, deliveries }: Evidence): string[] {
  const made = Map.groupBy(deliveries, ({ resendId }) => resendId);
  return resends.flatMap(({ id, state, subscriptionId, eventIds }) => {
    const own = made.get(id) ?? [];
    const sent = new Set(own.map(({ eventId }) => eventId));
    return [
      ...(state === 'COMPLETED' ? [] : [`resend ${id} is ${state}`]),
      ...eventIds
        .filter((eventId) => !sent.has(eventId))
        .map((eventId) => `resend ${id}: without ${eventId}`),
      ...(sent.size === own.length ? [] : [`resend ${id}: ${own.length} deliveries of ${sent.size} events`]),
      ...own
        .filter((delivery) => delivery.subscriptionId !== subscriptionId)
        .map(() => `resend ${id}: delivery to another subscription`),
    ];
  });
}

/** Numbers without gaps, all ended, in the order of their times, the last one a success and no other. */
function findLogFaults({ id, status, attemptCount, attempts }: LoggedDelivery): string[] {
  const faults: string[] = [];
  if (status !== 'SUCCEEDED') faults.push(`is ${status}`);
  if (attempts.length !== attemptCount) faults.push(`counts ${attemptCount} of ${attempts.length} attempts`);
  for (const [index, { number, startedAt, endedAt, httpStatus, failure }] of attempts.entries()) {
    const isLast = index === attempts.length - 1;
    const isSuccess = httpStatus !== undefined && httpStatus >= 200 && httpStatus < 300;
    if (number !== index + 1) faults.push(`attempt ${number} is at position ${index + 1}`);
    if (endedAt === undefined) faults.push(`attempt ${number} has not ended`);
    else if (endedAt < startedAt) faults.push(`attempt ${number} ended before it began`);
    if ((httpStatus === undefined) === (failure === undefined))
      faults.push(`attempt ${number} has no outcome`);
    if (isSuccess !== isLast)
      faults.push(`attempt ${number} of ${attempts.length}: ${failure ?? httpStatus}`);
    const previous = attempts[index - 1];
    if (previous && startedAt < (previous.endedAt ?? 0))
      faults.push(`attempt ${number} overlaps the one before`);
  }
  return faults.map((fault) => `delivery ${id}: ${fault}`);
}

/** An ordered subscription gets an event only after it has accepted the earlier ones of the same object. */
function findOutOfOrder(
  { accepted, subscriptions }: Evidence,
  arrivals: ReadonlyMap<string, readonly Arrival[]>,
): string[] {
  const ordered = subscriptions.filter((subscription) => subscription.ordered);
  return ordered.flatMap((subscription) => {
    const matching = accepted.filter((event) => matches(subscription, event));
    const objects = Map.groupBy(matching, ({ objectId }) => objectId);
    return [...objects].flatMap(([objectId, events]) => {
      const arrived = events
        .toSorted((a, b) => a.sequence - b.sequence)
        .map(({ id, sequence }) => ({
          sequence,
          all: arrivals.get(keyOf({ path: subscription.path, eventId: id })),
        }))
        .filter(({ all }) => all !== undefined);
      return arrived.slice(1).flatMap(({ sequence, all }, index) => {
        const done = Math.min(...arrived[index]!.all!.map((arrival) => succeededAt(arrival)));
        if (all![0]!.order > done) return [];
        return [
          `${subscription.path} ${objectId}: ${sequence} arrived before ${arrived[index]!.sequence} was delivered`,
        ];
      });
    });
  });
}

const succeededAt = ({ answer, answeredOrder }: Arrival) =>
  answer !== undefined && answer < 300 ? answeredOrder! : Number.POSITIVE_INFINITY;
