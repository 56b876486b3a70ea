import type { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import type { ReportedAttempt } from '../deliveries/delivery.ts';
import type { AttemptRecorder, RecordedDelivery } from './attempt-recorder.ts';
import { type RetryRow, readRetries } from './requeue-expired.ts';

export interface ReportOutcomes {
  /** The state of each known delivery. */
  readonly deliveries: ReadonlyMap<string, RecordedDelivery>;
  /** The input of the retry workflows of those that are RETRYING. */
  readonly retries: ReadonlyMap<string, RetryRow>;
}

/** Records reports; several of one delivery in their order. */
export async function reportAttempts(
  { db, recorder }: { db: CrossTenantDatabase; recorder: AttemptRecorder },
  reports: readonly ReportedAttempt[],
  requestId: string,
): Promise<ReportOutcomes> {
  const deliveries = new Map<string, RecordedDelivery>();
  for (const group of groupsOf(reports)) {
    for (const [id, recorded] of await recorder.record(group, requestId)) deliveries.set(id, recorded);
  }
  const retrying = [...deliveries.values()].filter(({ status }) => status === 'RETRYING').map(({ id }) => id);
  const retries = retrying.length > 0 ? await readRetries(db.run, retrying) : [];
  return { deliveries, retries: new Map(retries.map((row) => [row.id, row])) };
}

/** Splits reports into groups in which each delivery occurs once; nearly always one group. */
function groupsOf(reports: readonly ReportedAttempt[]): ReportedAttempt[][] {
  const groups: ReportedAttempt[][] = [];
  const seen = new Map<string, number>();
  for (const report of reports) {
    const group = seen.get(report.deliveryId) ?? 0;
    seen.set(report.deliveryId, group + 1);
    groups[group] ??= [];
    groups[group].push(report);
  }
  return groups;
}
