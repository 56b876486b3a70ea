import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type AdvanceRequest,
  approve,
  type Change,
  finishRelease,
  type Moment,
  openRequest,
  refuse,
  settle,
  startRelease,
} from '../../../services/advances/advance-request.ts';
import { addDays } from '../../../services/platform/civil-date.ts';
import { DomainError } from '../../../services/platform/errors.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const REQUESTED_ON = '2026-11-21';
const FIRST = '2026-12-21';
const LAST = '2027-02-19';

type Command = keyof typeof COMMANDS;
const COMMANDS = {
  approve: (request: AdvanceRequest, moment: Moment): Change => approve(request, moment, 'fine'),
  refuse: (request: AdvanceRequest, moment: Moment): Change => refuse(request, moment, 'no'),
  start: (request: AdvanceRequest, moment: Moment): Change => startRelease(request, moment),
  finish: (request: AdvanceRequest): Change => finishRelease(request),
  settle: (request: AdvanceRequest, moment: Moment): Change => settle(request, moment),
};

test('a request has the first and last of its covered dates', () => {
  const dates = ['2026-12-21', '2027-02-19', '2026-12-20', '2027-01-20'];
  const request = openRequest(dates, on(REQUESTED_ON).at);
  expect(request).toMatchObject({ firstDate: '2026-12-20', lastDate: '2027-02-19' });
});

test('once a covered date has passed, a request can be refused but not approved or released', () => {
  const due = { date: FIRST };
  expectRefusal(() => approve(after(), on(FIRST), null), 'COVERED_PART_DUE', due);
  const approved = after(['approve', '2026-12-20']);
  expectRefusal(() => startRelease(approved, on(FIRST)), 'COVERED_PART_DUE', due);
  expect(refuse(approved, on(FIRST), 'due')).toMatchObject({ status: 'REFUSED', reviewReason: 'due' });
});

test('a payout that has started can be completed, but not refused', () => {
  const started = after(['approve', REQUESTED_ON], ['start', '2026-12-01']);
  expectRefusal(() => refuse(started, on('2026-12-02'), 'late'), 'ADVANCE_REQUEST_STATE');
  // Even on the covered date: the payout may have been made.
  expect(startRelease(started, on(FIRST))).toEqual({ releaseStartedAt: started.releaseStartedAt });
  expect(finishRelease(started).status).toBe('RELEASED');
});

test('a release is settled on the day after the last covered date, not earlier', () => {
  const released = after(['approve', REQUESTED_ON], ['start', REQUESTED_ON], ['finish', REQUESTED_ON]);
  expectRefusal(() => settle(released, on(LAST)), 'ADVANCE_NOT_DUE', { lastDate: LAST });
  expect(settle(released, on(addDays(LAST, 1))).status).toBe('SETTLED');
});

const ALLOWED: Record<AdvanceRequest['status'], AdvanceRequest['status'][]> = {
  PENDING_REVIEW: ['APPROVED', 'REFUSED'],
  APPROVED: ['RELEASED', 'REFUSED'],
  RELEASED: ['SETTLED'],
  REFUSED: [],
  SETTLED: [],
};

test('commands in any order make only the allowed transitions and keep the times in order', () => {
  const names = Object.keys(COMMANDS) as Command[];
  const step = fc.tuple(fc.constantFrom(...names), fc.integer({ min: -5, max: 100 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let request = after();
      for (const [command, day] of steps) {
        const before = request;
        const change = unlessRefused(() => COMMANDS[command](before, on(addDays(REQUESTED_ON, day))));
        if (change === undefined) continue;
        request = { ...before, ...change };
        if (request.status !== before.status) expect(ALLOWED[before.status]).toContain(request.status);
        if (request.status === 'RELEASED' && before.status === 'APPROVED') {
          expect(request.releasedAt! < on(FIRST).at).toBe(true);
        }
        const { requestedAt, reviewedAt, releasedAt, status } = request;
        expect(reviewedAt === null).toBe(status === 'PENDING_REVIEW');
        expect(releasedAt !== null).toBe(status === 'RELEASED' || status === 'SETTLED');
        if (reviewedAt !== null) expect(requestedAt <= reviewedAt).toBe(true);
        if (releasedAt !== null) expect(reviewedAt! <= releasedAt).toBe(true);
      }
    }),
    { numRuns: propertyRuns(1000) },
  );
});

/** A request after these commands, each on its own day. */
function after(...steps: [Command, day: string][]): AdvanceRequest {
  let request = openRequest([LAST, FIRST], on(REQUESTED_ON).at);
  for (const [command, day] of steps) request = { ...request, ...COMMANDS[command](request, on(day)) };
  return request;
}

function on(today: string): Moment {
  return { at: new Date(`${today}T15:00:00Z`), today };
}

function expectRefusal(rule: () => unknown, reason: string, metadata: Record<string, string> = {}) {
  const refusal = { kind: 'FAILED_PRECONDITION', reason, metadata: expect.objectContaining(metadata) };
  expect(rule).toThrow(expect.objectContaining(refusal));
}

function unlessRefused<T>(rule: () => T): T | undefined {
  try {
    return rule();
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
