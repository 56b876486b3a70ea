import { expiredSessions } from './accounts/sessions/expired-sessions.ts';
import type { PeriodicTask } from './platform/process/periodic-tasks.ts';
import { expiredIdempotencyRecords } from './platform/writes/expired-idempotency-records.ts';
import { webhookPartitionsAhead } from './webhooks/retention/partitions.ts';
import { disabledBacklogs } from './webhooks/subscriptions/cancel-backlog.ts';

/** The periodic tasks that every services process runs, whichever areas it serves. */
const PLATFORM_TASKS: readonly PeriodicTask[] = [expiredIdempotencyRecords];

/**
 * The periodic tasks of each area, run by the processes that serve it.
 *
 * Periodic work that is not here:
 * - What needs durable runs and belongs to no process is started by Temporal: see workflows/schedules.ts.
 * - DispatchService recovers lost work once a second, but only while workers ask for deliveries: see
 *   `WorkClaims` in webhooks/dispatch/claim-batch.ts.
 * - Gateways delete expired rate limit counts every ten seconds, possibly in another database: see
 *   gateway/rate-limits/rate-limit-store.ts.
 */
const AREA_TASKS: Readonly<Record<string, readonly PeriodicTask[]>> = {
  accounts: [expiredSessions],
  webhooks: [webhookPartitionsAhead, disabledBacklogs],
};

/** The periodic tasks of a process that serves these areas. */
export const periodicTasksFor = (areas: readonly string[]): PeriodicTask[] => [
  ...PLATFORM_TASKS,
  ...areas.flatMap((area) => AREA_TASKS[area] ?? []),
];
