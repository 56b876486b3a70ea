import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type AdvanceRequest,
  approve,
  finishRelease,
  isRefusal,
  type Moment,
  openRequest,
  type Refusal,
  refuse,
  settle,
  startRelease,
} from '../../../services/advances/advance-request.ts';
import { addDays } from '../../../services/platform/civil-date.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const REQUESTED_ON = '2026-11-21';
const FIRST = '2026-12-21';
const LAST = '2027-02-19';

test('a request goes PENDING_REVIEW, APPROVED, RELEASED, SETTLED', () => {
  const approved = accepted(approve(pending(), on('2026-11-22'), 'fine'));
  expect(approved).toMatchObject({
    status: 'APPROVED',
    reviewReason: 'fine',
    reviewedAt: on('2026-11-22').at,
  });
  const released = accepted(finishRelease(accepted(startRelease(approved, on('2026-11-23')))));
  expect(released).toMatchObject({
    status: 'RELEASED',
    releasedAt: on('2026-11-23').at,
    releaseStartedAt: null,
  });
  expect(accepted(settle(released, on('2027-02-20'))).status).toBe('SETTLED');
});

test('a request names the first and the last of its dates', () => {
  expect(
    openRequest(['2026-12-21', '2027-02-19', '2026-12-20', '2027-01-20'], pending().requestedAt),
  ).toMatchObject({
    firstDate: '2026-12-20',
    lastDate: '2027-02-19',
  });
});

test('what is refused for the state names it, and whether the payout has started', () => {
  const wrong = (status: string, releaseStarted: 'true' | 'false') => ({
    refused: 'ADVANCE_REQUEST_STATE',
    metadata: { status, releaseStarted },
  });
  const moment = on('2026-12-01');
  const approved = accepted(approve(pending(), moment, null));
  const started = accepted(startRelease(approved, moment));
  const refused = accepted(refuse(pending(), moment, 'no'));
  const released = accepted(finishRelease(started));
  expect(settle(pending(), moment)).toEqual(wrong('PENDING_REVIEW', 'false'));
  expect(finishRelease(approved)).toEqual(wrong('APPROVED', 'false'));
  expect(refuse(started, moment, 'late')).toEqual(wrong('APPROVED', 'true'));
  expect(refuse(refused, moment, 'again')).toEqual(wrong('REFUSED', 'false'));
  expect(refuse(released, moment, 'late')).toEqual(wrong('RELEASED', 'false'));
});

test('once a covered date has come a request is neither approved nor released, but can be refused', () => {
  const due = { refused: 'COVERED_PART_DUE', metadata: { date: FIRST } };
  expect(approve(pending(), on(FIRST), null)).toEqual(due);
  const approved = accepted(approve(pending(), on('2026-12-20'), null));
  expect(startRelease(approved, on(FIRST))).toEqual(due);
  expect(accepted(refuse(approved, on(FIRST), 'due'))).toMatchObject({
    status: 'REFUSED',
    reviewReason: 'due',
  });
});

test('a payout that has started is finished, not refused', () => {
  const started = accepted(
    startRelease(accepted(approve(pending(), on(REQUESTED_ON), null)), on('2026-12-01')),
  );
  expect(refuse(started, on('2026-12-02'), 'late')).toMatchObject({ refused: 'ADVANCE_REQUEST_STATE' });
  // Starting again goes on with it, even on the covered date: the payout may have been made.
  expect(startRelease(started, on(FIRST))).toBe(started);
  expect(accepted(finishRelease(started)).status).toBe('RELEASED');
});

test('a release is settled on the day after the last covered date, not before', () => {
  const approved = accepted(approve(pending(), on(REQUESTED_ON), null));
  const released = accepted(finishRelease(accepted(startRelease(approved, on(REQUESTED_ON)))));
  expect(settle(released, on(LAST))).toEqual({ refused: 'ADVANCE_NOT_DUE', metadata: { lastDate: LAST } });
  expect(accepted(settle(released, on(addDays(LAST, 1)))).status).toBe('SETTLED');
});

const ALLOWED: Record<AdvanceRequest['status'], AdvanceRequest['status'][]> = {
  PENDING_REVIEW: ['APPROVED', 'REFUSED'],
  APPROVED: ['RELEASED', 'REFUSED'],
  RELEASED: ['SETTLED'],
  REFUSED: [],
  SETTLED: [],
};

test('whatever is asked in whatever order, states move as written and times stay in order', () => {
  const commands = fc.array(
    fc.tuple(
      fc.constantFrom('approve', 'refuse', 'start', 'finish', 'settle'),
      fc.integer({ min: -5, max: 100 }),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(commands, (steps) => {
      let request = pending();
      for (const [command, day] of steps) {
        const before = request;
        const result = run(command, before, on(addDays(REQUESTED_ON, day)));
        if (isRefusal(result)) continue;
        request = result;
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
    { numRuns: propertyRuns(3000) },
  );
});

function run(command: string, request: AdvanceRequest, moment: Moment): AdvanceRequest | Refusal {
  switch (command) {
    case 'approve':
      return approve(request, moment, null);
    case 'refuse':
      return refuse(request, moment, 'no');
    case 'start':
      return startRelease(request, moment);
    case 'finish':
      return finishRelease(request);
    default:
      return settle(request, moment);
  }
}

function pending(): AdvanceRequest {
  return openRequest([LAST, FIRST], on(REQUESTED_ON).at);
}

function on(today: string): Moment {
  return { at: new Date(`${today}T15:00:00Z`), today };
}

function accepted(result: AdvanceRequest | Refusal): AdvanceRequest {
  if (isRefusal(result)) throw new Error(`refused: ${result.refused}`);
  return result;
}
