import { expiredSessionMirrors, expiredSessions } from './accounts/sessions/expired-sessions.ts';
import { expiredQuotes } from './advances/expired-quotes.ts';
import { expiringKeyNotices, replacedKeyNotices } from './api-keys/expiry-notices.ts';
import type { ServicesConfig } from './platform/process/config.ts';
import type { PeriodicTask } from './platform/process/periodic-tasks.ts';
import { auditPartitions } from './platform/writes/audit-partitions.ts';
import { expiredIdempotencyRecords } from './platform/writes/expired-idempotency-records.ts';
import { oldDeliveryRecords } from './webhooks/dispatch/delivery-records.ts';
import { unusedSequences } from './webhooks/events/unused-sequences.ts';
import { failingEndpointNotices } from './webhooks/health/failing-notices.ts';
import { expiredListeners } from './webhooks/listeners/expired-listeners.ts';
import {
  deletedSubscriptions,
  endedResends,
  formerLaneOwners,
  oldEndpointSlots,
} from './webhooks/old-rows.ts';
import { webhookPartitionsAhead } from './webhooks/retention/partitions.ts';
import { disabledBacklogs } from './webhooks/subscriptions/disabled-backlogs.ts';

/** The periodic tasks that every services process runs, whichever areas it serves. */
const platformTasks = ({ AUDIT_RETENTION }: ServicesConfig): PeriodicTask[] => [
  expiredIdempotencyRecords,
  auditPartitions(AUDIT_RETENTION),
];

/**
 * The periodic tasks of each area, run by the processes that serve it.
 *
 * Periodic work that is not here:
 * - What needs durable runs and belongs to no process is started by Temporal: see workflows/schedules.ts.
 * - The owners of webhook lanes close attempts whose process has died once a second: see
 *   webhooks/lanes/webhook-lanes.ts.
 * - Gateways delete expired rate limit counts every ten seconds, possibly in another database: see
 *   gateway/rate-limits/rate-limit-store.ts.
 */
const AREA_TASKS: Readonly<Record<string, readonly PeriodicTask[]>> = {
  accounts: [expiredSessions, expiredSessionMirrors],
  advances: [expiredQuotes],
  'api-keys': [expiringKeyNotices, replacedKeyNotices],
  webhooks: [
    webhookPartitionsAhead,
    disabledBacklogs,
    expiredListeners,
    oldDeliveryRecords,
    endedResends,
    unusedSequences,
    deletedSubscriptions,
    oldEndpointSlots,
    failingEndpointNotices,
    formerLaneOwners,
  ],
};

/** The periodic tasks of a process that serves these areas. */
export const periodicTasksFor = (areas: readonly string[], config: ServicesConfig): PeriodicTask[] => [
  ...platformTasks(config),
  ...areas.flatMap((area) => AREA_TASKS[area] ?? []),
];
