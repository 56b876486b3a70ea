import { describe, expect, it } from 'vitest';
import { planFaults } from './fault-schedule.ts';
import { reconcile } from './reconcile.ts';
import type { Arrival, Evidence, FaultWindow, LoggedAttempt, LoggedDelivery } from './records.ts';

const T0 = 1_800_000_000_000;
const PATH = '/hooks/a';

const event = (id: string, sequence: number, askedAt = T0 + sequence * 1_000) => ({
  ...{ id, merchantId: 'm', type: 'payment.succeeded.v1', objectId: 'o', sequence, askedAt },
  ...{ timestampMs: askedAt, acceptedAt: askedAt + 10, tries: 1 },
});
const attempt = (number: number, startedAt: number, outcome: Partial<LoggedAttempt> = {}): LoggedAttempt => ({
  ...{ number, startedAt, endedAt: startedAt + 5, failure: undefined },
  ...{ httpStatus: outcome.failure ? undefined : 204, ...outcome },
});
const delivery = (eventId: string, ...attempts: LoggedAttempt[]): LoggedDelivery => ({
  ...{ id: `delivery of ${eventId}`, subscriptionId: 's', eventId, status: 'SUCCEEDED', attempts },
  resendId: undefined,
  ...{ eventType: eventId === 'ping' ? 'webhook.ping.v1' : 'payment.succeeded.v1' },
  attemptCount: attempts.length,
});
const arrival = (order: number, eventId: string, at: number, more: Partial<Arrival> = {}): Arrival => ({
  ...{ order, answeredOrder: order + 0.5, at, path: PATH, eventId, sequence: 1, answer: 204 },
  ...{ type: eventId === 'ping' ? 'webhook.ping.v1' : 'payment.succeeded.v1' },
  ...{ stamp: Math.floor(at / 1_000), ...more },
});
const fault = (target: string, from: number, to: number): FaultWindow => ({ kind: 'kill', target, from, to });

/** Two events and a ping, at an ordered subscription, and nothing wrong. */
function whole(): Evidence {
  return {
    accepted: [event('e1', 1), event('e2', 2)],
    subscriptions: [
      {
        ...{ id: 's', merchantId: 'm', eventTypes: ['payment.succeeded.v1'], ordered: true, path: PATH },
        ...{ createdAtMs: T0 - 10, answeredAt: T0 },
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
    ...{ faults: [], resends: [] },
  };
}
const but = (change: (evidence: Evidence) => Partial<Evidence>) => {
  const evidence = whole();
  return reconcile({ ...evidence, ...change(evidence) });
};

describe('the reconciliation', () => {
  it('finds nothing where everything arrived once', () => {
    expect(reconcile(whole())).toEqual({
      ...{ expected: 3, missing: [], unwanted: [], badLogs: [], outOfOrder: [], unexplained: [] },
      badResends: [],
      ...{ duplicates: new Map(), unrecorded: new Map() },
    });
  });

  it('misses each arrival and each delivery that is not there, pings too', () => {
    for (const n of [0, 1, 2]) {
      expect(but(({ arrivals }) => ({ arrivals: arrivals.toSpliced(n, 1) })).missing).toHaveLength(1);
      expect(but(({ deliveries }) => ({ deliveries: deliveries.toSpliced(n, 1) })).missing).toHaveLength(1);
    }
  });

  it('asks nothing of an event that was published before its subscription was answered', () => {
    const early = event('e0', 0, T0 - 5);
    const result = but(({ accepted, events }) => ({
      accepted: [...accepted, early],
      events: [...events, { id: 'e0', type: early.type }],
    }));
    expect(result).toMatchObject({ expected: 3, missing: [], unwanted: [] });
  });

  it('sees what nobody asked for: an event of nobody, one published twice by a key, two deliveries of one', () => {
    expect(but(({ arrivals }) => ({ arrivals: [...arrivals, arrival(9, 'e9', T0)] })).unwanted).toHaveLength(
      1,
    );
    const twice = { id: 'e3', type: 'payment.succeeded.v1' };
    expect(but(({ events }) => ({ events: [...events, twice] })).unwanted).toHaveLength(1);
    expect(but(({ deliveries }) => ({ deliveries: [...deliveries, deliveries[1]!] })).unwanted).toHaveLength(
      1,
    );
  });

  it('sees each gap in an attempt log', () => {
    const logOf = (...attempts: LoggedAttempt[]) =>
      but(({ deliveries }) => ({ deliveries: deliveries.toSpliced(1, 1, delivery('e1', ...attempts)) }))
        .badLogs;
    const [first, second] = [attempt(1, T0 + 1_000, { failure: 'TLS' }), attempt(2, T0 + 1_020)];
    expect(logOf(first, second)).toEqual([]);
    expect(logOf(first)).toHaveLength(1);
    expect(logOf(first, { ...second, number: 3 })).toHaveLength(1);
    expect(logOf(first, { ...second, endedAt: undefined })).toHaveLength(1);
    expect(logOf(first, { ...second, startedAt: T0 + 1_001 })).toHaveLength(1);
    expect(logOf({ ...first, failure: undefined }, second)).toHaveLength(1);
    expect(logOf(attempt(1, T0 + 1_000), second)).toHaveLength(1);
  });

  it('sees a later event of an object that came before the earlier one was answered', () => {
    const late = arrival(4, 'e1', T0 + 2_500);
    expect(but(({ arrivals }) => ({ arrivals: arrivals.toSpliced(1, 1, late) })).outOfOrder).toHaveLength(1);
    const refused = arrival(2, 'e1', T0 + 1_020, { answer: 500 });
    expect(
      but(({ arrivals }) => ({ arrivals: [...arrivals.toSpliced(1, 1, refused), late] })).outOfOrder,
    ).toHaveLength(1);
  });

  it('takes a duplicate for explained only by a fault on the way of its report', () => {
    const again = (faults: FaultWindow[]) =>
      but(({ arrivals }) => ({ arrivals: [...arrivals, arrival(4, 'e1', T0 + 61_000)], faults }));
    expect(again([]).unexplained).toHaveLength(2);
    expect(again([fault('worker-1', T0 + 1_100, T0 + 5_000)]).unexplained.length).toBeLessThan(2);
    expect(again([fault('gateway', T0 + 1_100, T0 + 5_000)]).unexplained).toHaveLength(2);
    expect(again([fault('worker-1', T0 + 9_100, T0 + 9_500)]).duplicates.size).toBe(1);
  });

  it('takes what was asked to be sent again for no duplicate, and misses it where it was not sent', () => {
    const resend = { id: 'r', merchantId: 'm', subscriptionId: 's', eventIds: ['e1'], state: 'COMPLETED' };
    const again = { ...delivery('e1', attempt(1, T0 + 9_000)), id: 'again', resendId: 'r' };
    const resent = (more: Partial<Evidence>) =>
      but(({ arrivals, deliveries }) => ({
        ...{ arrivals: [...arrivals, arrival(4, 'e1', T0 + 9_000)], resends: [resend] },
        ...{ deliveries: [...deliveries, again], ...more },
      }));
    expect(resent({})).toMatchObject({
      badResends: [],
      unwanted: [],
      unexplained: [],
      duplicates: new Map(),
    });
    expect(resent({ resends: [{ ...resend, state: 'RUNNING' }] }).badResends).toHaveLength(1);
    expect(resent({ resends: [{ ...resend, eventIds: ['e1', 'e2'] }] }).badResends).toHaveLength(1);
    expect(resent({ deliveries: whole().deliveries }).badResends).toHaveLength(1);
    const soon = { ...again, attempts: [attempt(1, T0 + 1_300)] };
    const atOnce = {
      arrivals: [...whole().arrivals, arrival(4, 'e1', T0 + 1_300)],
      deliveries: [soon, ...whole().deliveries],
    };
    expect(resent(atOnce)).toMatchObject({ unexplained: [], duplicates: new Map() });
    const overtaken = delivery('e1', attempt(1, T0 + 500, { failure: 'TIMEOUT' }), attempt(2, T0 + 12_000));
    const twice = [arrival(4, 'e1', T0 + 9_000), arrival(5, 'e1', T0 + 12_000)];
    const overtaking = {
      arrivals: [...whole().arrivals.toSpliced(1, 1), ...twice],
      deliveries: [again, ...whole().deliveries.toSpliced(1, 1, overtaken)],
    };
    expect(resent(overtaking)).toMatchObject({ unexplained: [], duplicates: new Map() });
    const repeated = [...overtaking.arrivals, arrival(6, 'e1', T0 + 60_000)];
    expect(resent({ ...overtaking, arrivals: repeated }).unexplained).toHaveLength(2);
  });

  it('sees an answer in the log that no endpoint has given', () => {
    const wrong = arrival(2, 'e1', T0 + 1_020, { answer: 500 });
    expect(
      but(({ arrivals }) => ({ arrivals: arrivals.toSpliced(1, 1, wrong) })).unexplained.length,
    ).toBeGreaterThan(0);
  });
});

describe('the schedule of faults', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(planFaults(7, 600_000)).toEqual(planFaults(7, 600_000));
    expect(planFaults(7, 600_000)).not.toEqual(planFaults(8, 600_000));
  });

  it('kills every process, loses the state of Temporal, and breaks the network in every way, in any seed', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const faults = planFaults(seed, 600_000);
      const kinds = new Set(faults.map(({ kind }) => kind));
      expect(kinds.size).toBe(14);
      const killed = new Set(faults.filter(({ kind }) => kind === 'kill').map(({ target }) => target));
      expect(killed.size).toBe(6);
    }
  });

  it('kills every process and pauses a worker past its lease even in the short form, in any seed', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const faults = planFaults(seed, 30_000);
      const targets = (of: string) =>
        new Set(faults.filter(({ kind }) => kind === of).map(({ target }) => target));
      expect(targets('kill').size).toBe(6);
      expect(targets('pause past the lease').size).toBe(1);
      expect(targets('lose state')).toEqual(new Set(['temporal']));
    }
  });
});
