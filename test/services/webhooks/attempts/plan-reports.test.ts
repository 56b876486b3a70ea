import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { ATTEMPT_TIMEOUT_MS, LOST_AFTER_MS } from '../../../../services/webhooks/attempts/attempt-limits.ts';
import {
  afterReport,
  isKnown,
  nextAttempt,
  planReports,
  type ReportedRow,
} from '../../../../services/webhooks/attempts/plan-reports.ts';
import { expectedAttempts, type ReportedAttempt } from '../../../../services/webhooks/deliveries/delivery.ts';

const SCHEDULE = [0, 5_000, 300_000, 3_600_000];
const CONFIG = {
  WEBHOOK_SCHEDULE_LIVE: SCHEDULE,
  WEBHOOK_SCHEDULE_SANDBOX: SCHEDULE,
  WEBHOOK_RETRY_WORKFLOW_LIMIT: 2,
};
const endedAt = new Date('2026-07-02T13:05:00.000Z');

const EPOCH = 1n;
const NEW: ReportedRow = {
  id: 'a',
  merchant_id: 'm',
  environment: 'test',
  subscription_id: 's',
  event_id: 'e',
  object_id: 'o',
  request_id: 'r',
  ordered: false,
  status: 'PENDING',
  attempt_count: 0,
  next_attempt_at: endedAt,
  ended_at: null,
  in_flight_until: null,
  attempt: 'UNKNOWN',
  lost: 0,
  epoch: EPOCH,
  now: endedAt,
  state: 'PENDING',
  generation: 1n,
  error: null,
  error_at: null,
  holding: false,
  probe_at: null,
  paused_at: null,
  retrying: 0,
};

const delivery = (row: Partial<ReportedRow> = {}): ReportedRow => ({ ...NEW, ...row });
const report = (number: number, httpStatus: number): ReportedAttempt => ({
  deliveryId: NEW.id,
  number,
  generation: 1n,
  owner: undefined,
  workflowId: undefined,
  startedAt: endedAt,
  result: { endedAt, httpStatus },
});

it('expects the remaining attempts on schedule, starting with the next one', () => {
  const after = (ms: number) => new Date(endedAt.getTime() + ms);
  expect(expectedAttempts(1, endedAt, SCHEDULE)).toEqual([endedAt, after(300_000), after(3_900_000)]);
  expect(expectedAttempts(3, endedAt, SCHEDULE)).toEqual([endedAt]);
});

describe('the next attempt', () => {
  it('is within 20 % of the schedule after the end of the attempt, never before Retry-After, never later than both', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: SCHEDULE.length - 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: DAY_MS }),
        (number, random, retryAfterMs) => {
          const next = nextAttempt(
            { number, lost: 0, result: { endedAt, httpStatus: 503, retryAfterMs } },
            SCHEDULE,
            random,
          )!;
          const waitMs = next.getTime() - endedAt.getTime();
          const scheduled = SCHEDULE[number]!;
          expect(waitMs).toBeGreaterThanOrEqual(Math.max(Math.floor(scheduled * 0.8), retryAfterMs));
          expect(waitMs).toBeLessThanOrEqual(Math.max(Math.ceil(scheduled * 1.2), retryAfterMs));
        },
      ),
    );
  });

  it('does not exist after the last one of the schedule', () => {
    expect(
      nextAttempt({ number: SCHEDULE.length, lost: 0, result: { endedAt, httpStatus: 500 } }, SCHEDULE, 0.5),
    ).toBeUndefined();
  });

  it('repeats one that this side lost soon, also the last one, and less soon the more were lost', () => {
    const waitAfter = (number: number, lost: number, result: { failure?: 'WORKER_LOST' } = {}) =>
      nextAttempt(
        { number, lost, result: { endedAt, httpStatus: 500, ...result } },
        SCHEDULE,
        0.5,
      )!.getTime() - endedAt.getTime();
    const lostNow = { failure: 'WORKER_LOST' } as const;
    expect(waitAfter(SCHEDULE.length, 0, lostNow)).toBe(5_000);
    expect([1, 2, 3, 9].map((lost) => waitAfter(12, lost, lostNow))).toEqual([
      300_000, 3_600_000, 3_600_000, 3_600_000,
    ]);
    // The schedule continues as if the lost attempts had not been made.
    expect(waitAfter(3, 1)).toBe(300_000);
    expect(
      nextAttempt(
        { number: SCHEDULE.length + 1, lost: 1, result: { endedAt, httpStatus: 500 } },
        SCHEDULE,
        0.5,
      ),
    ).toBeUndefined();
  });
});

describe('a report', () => {
  it.each([200, 201, 204, 299])('of %i ends a delivery as SUCCEEDED', (status) => {
    expect(afterReport(delivery(), report(1, status), SCHEDULE, 0.5)).toEqual({
      status: 'SUCCEEDED',
      nextAttemptAt: null,
      endedAt,
      inFlightUntil: null,
    });
  });

  it.each([199, 300, 301, 400, 404, 429, 500])(
    'of %i makes the delivery RETRYING, or EXHAUSTED after its last attempt',
    (status) => {
      expect(afterReport(delivery(), report(1, status), SCHEDULE, 0.5)).toEqual({
        status: 'RETRYING',
        nextAttemptAt: new Date(endedAt.getTime() + 5_000),
        endedAt: null,
        inFlightUntil: null,
      });
      const last = delivery({ status: 'RETRYING', attempt_count: 3 });
      expect(afterReport(last, report(4, status), SCHEDULE, 0.5)).toMatchObject({
        status: 'EXHAUSTED',
        endedAt,
      });
    },
  );

  it('of a delivery that was held while in flight leaves it HELD, because nothing would start its workflow', () => {
    const held = delivery({ status: 'HELD', attempt_count: 1, attempt: 'IN_FLIGHT' });
    expect(afterReport(held, report(1, 500), SCHEDULE, 0.5).status).toBe('HELD');
    expect(afterReport(held, report(1, 200), SCHEDULE, 0.5).status).toBe('SUCCEEDED');
  });

  it('that the attempt takes long waits until it must have ended, and keeps a HELD delivery', () => {
    const inFlight = { ...report(1, 0), result: undefined };
    const lostAt = new Date(endedAt.getTime() + ATTEMPT_TIMEOUT_MS + LOST_AFTER_MS);
    for (const status of ['PENDING', 'RETRYING', 'HELD'] as const) {
      expect(afterReport(delivery({ status }), inFlight, SCHEDULE, 0.5)).toEqual({
        status: status === 'HELD' ? 'HELD' : 'RETRYING',
        nextAttemptAt: lostAt,
        endedAt: null,
        inFlightUntil: lostAt,
      });
    }
  });

  it('of a failure does not change a delivery whose next attempt has started; a success ends it', () => {
    const started = delivery({ status: 'RETRYING', attempt_count: 2, in_flight_until: endedAt });
    expect(afterReport(started, report(1, 500), SCHEDULE, 0.5)).toEqual({
      status: 'RETRYING',
      nextAttemptAt: endedAt,
      endedAt: null,
      inFlightUntil: endedAt,
    });
    expect(afterReport(started, report(1, 200), SCHEDULE, 0.5).status).toBe('SUCCEEDED');
  });

  it('does not change an ended delivery', () => {
    const canceled = delivery({ status: 'CANCELED', next_attempt_at: null, ended_at: endedAt });
    for (const status of [200, 500]) {
      expect(afterReport(canceled, report(1, status), SCHEDULE, 0.5)).toMatchObject({
        status: 'CANCELED',
        endedAt,
      });
    }
  });

  it('is ignored if its attempt is recorded already, or was never handed out', () => {
    expect(isKnown(delivery(), report(1, 200))).toBe(false);
    expect(isKnown(delivery(), report(2, 200))).toBe(true);
    expect(isKnown(delivery({ attempt_count: 1, attempt: 'ENDED' }), report(1, 200))).toBe(true);
    const running = delivery({ attempt_count: 1, attempt: 'IN_FLIGHT' });
    expect(isKnown(running, report(1, 200))).toBe(false);
    expect(isKnown(running, { ...report(1, 200), result: undefined })).toBe(true);
  });
});

const plan = (row: ReportedRow, sent: ReportedAttempt) => planReports([row], [sent], endedAt, CONFIG);
const ofOwner = (sent: ReportedAttempt, epoch = EPOCH) => ({ ...sent, owner: { lane: 1, epoch } });

it('a new attempt is reported by the owner of its lane only, the end of one in flight by anyone', () => {
  expect(plan(delivery(), ofOwner(report(1, 200)))).toHaveLength(1);
  expect(plan(delivery(), ofOwner(report(1, 200), EPOCH - 1n))).toEqual([]);
  expect(plan(delivery(), report(1, 200))).toEqual([]);
  expect(plan(delivery({ attempt: 'IN_FLIGHT', attempt_count: 1 }), report(1, 200))).toHaveLength(1);
});

it('a delivery of a paused subscription is held after a failure, whatever the limit', () => {
  const paused = delivery({ paused_at: endedAt, retrying: 2 });
  expect(plan(paused, ofOwner(report(1, 503)))).toMatchObject([
    { change: { status: 'HELD' }, overLimit: false },
  ]);
  expect(plan(paused, ofOwner(report(1, 200)))).toMatchObject([{ change: { status: 'SUCCEEDED' } }]);
});

it('only the first failure of a delivery needs a retry workflow, of which its subscription has a limited number', () => {
  const rows = ['PENDING', 'RETRYING', 'PENDING', 'RETRYING', 'PENDING'].map((status, index) =>
    delivery({ id: `d${index}`, status: status as 'PENDING' | 'RETRYING', retrying: 1 }),
  );
  const failures = rows.map(({ id: deliveryId }) => ofOwner({ ...report(1, 503), deliveryId }));
  const planned = planReports(rows, failures, endedAt, CONFIG);
  expect(planned.map(({ change, overLimit }) => [change?.status, overLimit])).toEqual([
    ['RETRYING', false],
    ['RETRYING', false],
    ['HELD', true],
    ['RETRYING', false],
    ['HELD', true],
  ]);
});

/** When an attempt that began four seconds ago by this process's clock is recorded to have begun, in seconds before now. */
function recordedSecondsAgo(askedSecondsAgo: number, databaseSecondsAgo: number): number {
  const now = Date.now();
  const ago = (seconds: number) => new Date(now - seconds * 1_000);
  const row: ReportedRow = { ...NEW, now: ago(databaseSecondsAgo) };
  const report: ReportedAttempt = {
    deliveryId: 'a',
    number: 1,
    generation: 1n,
    owner: { lane: 1, epoch: EPOCH },
    workflowId: undefined,
    startedAt: ago(4),
    result: { endedAt: ago(3.5), latencyMs: 500, httpStatus: 503 },
  };
  const [planned] = planReports([row], [report], ago(askedSecondsAgo), CONFIG);
  return Math.round((now - planned!.report.startedAt.getTime()) / 1_000);
}

it.each([
  { when: 'the database is slow to answer', askedSecondsAgo: 3, databaseSecondsAgo: 2.5, recorded: 4 },
  { when: 'the database is slow to be asked', askedSecondsAgo: 3, databaseSecondsAgo: 0, recorded: 4 },
  { when: 'the process’s clock is a minute ahead', askedSecondsAgo: 0, databaseSecondsAgo: 60, recorded: 64 },
  {
    when: 'the process’s clock is a minute behind',
    askedSecondsAgo: 0,
    databaseSecondsAgo: -60,
    recorded: -56,
  },
])('an attempt is recorded by the database’s clock when $when', (row) => {
  expect(recordedSecondsAgo(row.askedSecondsAgo, row.databaseSecondsAgo)).toBe(row.recorded);
});

it('a lost attempt keeps its times, which the database’s clock has set', () => {
  const now = new Date(Date.now() - 60_000);
  const result = { endedAt: now, failure: 'WORKER_LOST' as const };
  const lost = { ...report(1, 0), startedAt: now, result };
  const inFlight = delivery({ attempt: 'IN_FLIGHT', attempt_count: 1, now });
  expect(planReports([inFlight], [lost], new Date(), CONFIG)).toMatchObject([{ report: lost }]);
});
