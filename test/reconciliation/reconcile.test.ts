import { describe, expect, it } from 'vitest';
import { planFaults } from './fault-schedule.ts';
import { reconcile } from './reconcile.ts';
import type { Arrival, Evidence, FaultWindow, LoggedAttempt, LoggedDelivery } from './records.ts';

const T0 = 1_800_000_000_000;
const PATH = '/hooks/a';

const event = (id: string, sequence: number, askedAt = T0 + sequence * 1_000) => ({
  id,
  merchantId: 'm',
  type: 'payment.succeeded.v1',
  objectId: 'o',
  sequence,
  askedAt,
  timestampMs: askedAt,
  acceptedAt: askedAt + 10,
  tries: 1,
});
const attempt = (number: number, startedAt: number, outcome: Partial<LoggedAttempt> = {}): LoggedAttempt => ({
  number,
  startedAt,
  endedAt: startedAt + 5,
  failure: undefined,
  httpStatus: outcome.failure ? undefined : 204,
  ...outcome,
});
const delivery = (eventId: string, ...attempts: LoggedAttempt[]): LoggedDelivery => ({
  id: `delivery of ${eventId}`,
  subscriptionId: 's',
  eventId,
  status: 'SUCCEEDED',
  attempts,
  resendId: undefined,
  eventType: eventId === 'ping' ? 'webhook.ping.v1' : 'payment.succeeded.v1',
  attemptCount: attempts.length,
});
const arrival = (order: number, eventId: string, at: number, more: Partial<Arrival> = {}): Arrival => ({
  order,
  answeredOrder: order + 0.5,
  at,
  path: PATH,
  eventId,
  sequence: 1,
  answer: 204,
  type: eventId === 'ping' ? 'webhook.ping.v1' : 'payment.succeeded.v1',
  stamp: Math.floor(at / 1_000),
  ...more,
});
const fault = (target: string, from: number, to: number): FaultWindow => ({ kind: 'kill', target, from, to });

/** Two events and a ping, at an ordered subscription, and nothing wrong. */
function completeEvidence(): Evidence {
  return {
    accepted: [event('e1', 1), event('e2', 2)],
    subscriptions: [
      {
        id: 's',
        merchantId: 'm',
        eventTypes: ['payment.succeeded.v1'],
        ordered: true,
        path: PATH,
        createdAtMs: T0 - 10,
        answeredAt: T0,
      },
    ],
    arrivals: [arrival(1, 'ping', T0), arrival(2, 'e1', T0 + 1_020), arrival(3, 'e2', T0 + 2_020)],
    deliveries: [
      delivery('ping', attempt(1, T0)),
      delivery('e1', attempt(1, T0 + 1_020)),
      delivery('e2', attempt(1, T0 + 2_020)),
    ],
    events: [
      { id: 'ping', type: 'webhook.ping.v1' },
      ...['e1', 'e2'].map((id) => ({ id, type: 'payment.succeeded.v1' })),
    ],
    faults: [],
    resends: [],
  };
}
const reconcileWith = (change: (evidence: Evidence) => Partial<Evidence>) => {
  const evidence = completeEvidence();
  return reconcile({ ...evidence, ...change(evidence) });
};

describe('the reconciliation', () => {
  it('finds nothing if every event arrived once', () => {
    expect(reconcile(completeEvidence())).toEqual({
      expected: 3,
      missing: [],
      unwanted: [],
      badLogs: [],
      outOfOrder: [],
      unexplained: [],
      badResends: [],
      duplicates: new Map(),
      unrecorded: new Map(),
    });
  });

  it('reports each missing arrival and delivery, including pings', () => {
    for (const n of [0, 1, 2]) {
      expect(reconcileWith(({ arrivals }) => ({ arrivals: arrivals.toSpliced(n, 1) })).missing).toHaveLength(
        1,
      );
      expect(
        reconcileWith(({ deliveries }) => ({ deliveries: deliveries.toSpliced(n, 1) })).missing,
      ).toHaveLength(1);
    }
  });

  it('expects nothing of an event that was published before the response to its subscription’s creation', () => {
    const early = event('e0', 0, T0 - 5);
    const result = reconcileWith(({ accepted, events }) => ({
      accepted: [...accepted, early],
      events: [...events, { id: 'e0', type: early.type }],
    }));
    expect(result).toMatchObject({ expected: 3, missing: [], unwanted: [] });
  });

  it('reports the unexpected: an unknown event, one published twice under a key, two deliveries of one event', () => {
    expect(
      reconcileWith(({ arrivals }) => ({ arrivals: [...arrivals, arrival(9, 'e9', T0)] })).unwanted,
    ).toHaveLength(1);
    const twice = { id: 'e3', type: 'payment.succeeded.v1' };
    expect(reconcileWith(({ events }) => ({ events: [...events, twice] })).unwanted).toHaveLength(1);
    expect(
      reconcileWith(({ deliveries }) => ({ deliveries: [...deliveries, deliveries[1]!] })).unwanted,
    ).toHaveLength(1);
  });

  it('reports each gap in an attempt log', () => {
    const logOf = (...attempts: LoggedAttempt[]) =>
      reconcileWith(({ deliveries }) => ({
        deliveries: deliveries.toSpliced(1, 1, delivery('e1', ...attempts)),
      })).badLogs;
    const [first, second] = [attempt(1, T0 + 1_000, { failure: 'TLS' }), attempt(2, T0 + 1_020)];
    expect(logOf(first, second)).toEqual([]);
    expect(logOf(first)).toHaveLength(1);
    expect(logOf(first, { ...second, number: 3 })).toHaveLength(1);
    expect(logOf(first, { ...second, endedAt: undefined })).toHaveLength(1);
    expect(logOf(first, { ...second, startedAt: T0 + 1_001 })).toHaveLength(1);
    expect(logOf({ ...first, failure: undefined }, second)).toHaveLength(1);
    expect(logOf(attempt(1, T0 + 1_000), second)).toHaveLength(1);
  });

  it('reports a later event of an object that arrived before the earlier one got a response', () => {
    const late = arrival(4, 'e1', T0 + 2_500);
    expect(
      reconcileWith(({ arrivals }) => ({ arrivals: arrivals.toSpliced(1, 1, late) })).outOfOrder,
    ).toHaveLength(1);
    const refused = arrival(2, 'e1', T0 + 1_020, { answer: 500 });
    expect(
      reconcileWith(({ arrivals }) => ({ arrivals: [...arrivals.toSpliced(1, 1, refused), late] }))
        .outOfOrder,
    ).toHaveLength(1);
  });

  it('accepts a duplicate only if a fault on the way of its report explains it', () => {
    const again = (faults: FaultWindow[]) =>
      reconcileWith(({ arrivals }) => ({ arrivals: [...arrivals, arrival(4, 'e1', T0 + 61_000)], faults }));
    expect(again([]).unexplained).toHaveLength(2);
    expect(again([fault('lanes-1', T0 + 1_100, T0 + 5_000)]).unexplained.length).toBeLessThan(2);
    for (const target of ['gateway', 'worker', 'temporal'])
      expect(again([fault(target, T0 + 1_100, T0 + 5_000)]).unexplained).toHaveLength(2);
    expect(again([fault('lanes-1', T0 + 9_100, T0 + 9_500)]).duplicates.size).toBe(1);
  });

  it('does not count a requested resend as a duplicate, and reports it if it was not sent', () => {
    const resend = { id: 'r', merchantId: 'm', subscriptionId: 's', eventIds: ['e1'], state: 'COMPLETED' };
    const again = { ...delivery('e1', attempt(1, T0 + 9_000)), id: 'again', resendId: 'r' };
    const resent = (more: Partial<Evidence>) =>
      reconcileWith(({ arrivals, deliveries }) => ({
        arrivals: [...arrivals, arrival(4, 'e1', T0 + 9_000)],
        resends: [resend],
        deliveries: [...deliveries, again],
        ...more,
      }));
    expect(resent({})).toMatchObject({
      badResends: [],
      unwanted: [],
      unexplained: [],
      duplicates: new Map(),
    });
    expect(resent({ resends: [{ ...resend, state: 'RUNNING' }] }).badResends).toHaveLength(1);
    expect(resent({ resends: [{ ...resend, eventIds: ['e1', 'e2'] }] }).badResends).toHaveLength(1);
    expect(resent({ deliveries: completeEvidence().deliveries }).badResends).toHaveLength(1);
    const soon = { ...again, attempts: [attempt(1, T0 + 1_300)] };
    const atOnce = {
      arrivals: [...completeEvidence().arrivals, arrival(4, 'e1', T0 + 1_300)],
      deliveries: [soon, ...completeEvidence().deliveries],
    };
    expect(resent(atOnce)).toMatchObject({ unexplained: [], duplicates: new Map() });
    const overtaken = delivery('e1', attempt(1, T0 + 500, { failure: 'TIMEOUT' }), attempt(2, T0 + 12_000));
    const twice = [arrival(4, 'e1', T0 + 9_000), arrival(5, 'e1', T0 + 12_000)];
    const overtaking = {
      arrivals: [...completeEvidence().arrivals.toSpliced(1, 1), ...twice],
      deliveries: [again, ...completeEvidence().deliveries.toSpliced(1, 1, overtaken)],
    };
    expect(resent(overtaking)).toMatchObject({ unexplained: [], duplicates: new Map() });
    const repeated = [...overtaking.arrivals, arrival(6, 'e1', T0 + 60_000)];
    expect(resent({ ...overtaking, arrivals: repeated }).unexplained).toHaveLength(2);
  });

  it('reports a response in the log that no endpoint has sent', () => {
    const wrong = arrival(2, 'e1', T0 + 1_020, { answer: 500 });
    expect(
      reconcileWith(({ arrivals }) => ({ arrivals: arrivals.toSpliced(1, 1, wrong) })).unexplained.length,
    ).toBeGreaterThan(0);
  });
});

describe('the schedule of faults', () => {
  it('is the same for the same seed, and different for another', () => {
    expect(planFaults(7, 600_000)).toEqual(planFaults(7, 600_000));
    expect(planFaults(7, 600_000)).not.toEqual(planFaults(8, 600_000));
  });

  it('kills every process, loses the state of Temporal, and causes every network fault, for any seed', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const faults = planFaults(seed, 600_000);
      const kinds = new Set(faults.map(({ kind }) => kind));
      expect(kinds.size).toBe(14);
      const killed = new Set(faults.filter(({ kind }) => kind === 'kill').map(({ target }) => target));
      expect(killed.size).toBe(7);
    }
  });

  it('kills every process and pauses each lane owner past its lease even in the short form, for any seed', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const faults = planFaults(seed, 30_000);
      const targets = (of: string) =>
        new Set(faults.filter(({ kind }) => kind === of).map(({ target }) => target));
      expect(targets('kill').size).toBe(7);
      expect(targets('pause past the lease')).toEqual(new Set(['services', 'lanes-1', 'lanes-2']));
      expect(targets('lose state')).toEqual(new Set(['temporal']));
    }
  });
});
