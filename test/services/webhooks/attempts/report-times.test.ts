import { expect, it } from 'vitest';
import { planReports, type ReportedRow } from '../../../../services/webhooks/attempts/plan-reports.ts';
import type { ReportedAttempt } from '../../../../services/webhooks/deliveries/delivery.ts';

const SCHEDULES = { WEBHOOK_SCHEDULE_LIVE: [0, 60_000], WEBHOOK_SCHEDULE_SANDBOX: [0, 60_000] };
const EPOCH = 1n;
const UNREPORTED: Omit<ReportedRow, 'now'> = {
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
  next_attempt_at: null,
  ended_at: null,
  in_flight_until: null,
  attempt: 'UNKNOWN',
  lost: 0,
  epoch: EPOCH,
  state: 'PENDING',
  generation: 1n,
  error: null,
  error_at: null,
  holding: false,
  probe_at: null,
  paused_at: null,
  retrying: 0,
};

/** When an attempt that began four seconds ago by this process's clock is recorded to have begun, in seconds before now. */
function recordedSecondsAgo(askedSecondsAgo: number, databaseSecondsAgo: number): number {
  const now = Date.now();
  const ago = (seconds: number) => new Date(now - seconds * 1_000);
  const row: ReportedRow = { ...UNREPORTED, now: ago(databaseSecondsAgo) };
  const report: ReportedAttempt = {
    deliveryId: 'a',
    number: 1,
    generation: 1n,
    owner: { lane: 1, epoch: EPOCH },
    workflowId: undefined,
    startedAt: ago(4),
    outcome: { result: { endedAt: ago(3.5), latencyMs: 500, httpStatus: 503 } },
  };
  const config = { ...SCHEDULES, WEBHOOK_RETRY_WORKFLOW_LIMIT: 10 };
  const [planned] = planReports([row], [report], ago(askedSecondsAgo), config);
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
