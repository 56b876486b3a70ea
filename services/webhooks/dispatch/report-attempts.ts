import type { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import type { ReportedAttempt } from '../deliveries/delivery.ts';
import type { AttemptRecorder, RecordedDelivery } from './attempt-recorder.ts';
import { type RetryRow, readRetries } from './hand-out-again.ts';

export interface ReportOutcomes {
  /** What each known delivery has come to. */
  readonly deliveries: ReadonlyMap<string, RecordedDelivery>;
  /** What to start the retry workflows with of those that are RETRYING. */
  readonly retries: ReadonlyMap<string, RetryRow>;
}

/** Records reports, several of one delivery in their order. */
export async function reportAttempts(
  { db, recorder }: { db: CrossTenantDatabase; recorder: AttemptRecorder },
  reports: readonly ReportedAttempt[],
  requestId: string,
): Promise<ReportOutcomes> {
  const deliveries = new Map<string, RecordedDelivery>();
  for (const round of roundsOf(reports)) {
    for (const [id, recorded] of await recorder.record(round, requestId)) deliveries.set(id, recorded);
  }
  const retrying = [...deliveries.values()].filter(({ status }) => status === 'RETRYING').map(({ id }) => id);
  const retries = retrying.length > 0 ? await readRetries(db.run, retrying) : [];
  return { deliveries, retries: new Map(retries.map((row) => [row.id, row])) };
}

/** Reports in rounds of different deliveries; nearly always one. */
function roundsOf(reports: readonly ReportedAttempt[]): ReportedAttempt[][] {
  const rounds: ReportedAttempt[][] = [];
  const seen = new Map<string, number>();
  for (const report of reports) {
    const round = seen.get(report.deliveryId) ?? 0;
    seen.set(report.deliveryId, round + 1);
    rounds[round] ??= [];
    rounds[round].push(report);
  }
  return rounds;
}
