import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { registerMeasuredGauges, rowOf } from '../../platform/process/measured-gauges.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../../platform/tenant.ts';

/** Only internal teams end these; disputes and refunds end the others. */
const REASONS = ['KYC_PENDING', 'COMPLIANCE_HOLD'] as const;

interface OldestHoldRow {
  readonly environment: EnvironmentName;
  readonly reason: (typeof REASONS)[number];
  readonly seconds: number;
}

const LABELS = ENVIRONMENTS.flatMap((environment) => REASONS.map((reason) => ({ environment, reason })));

/** Reads one row for each environment and reason, from their index. */
const MEASURE: Statement = {
  name: 'measure_oldest_holds',
  text: `
select environment, reason, extract(epoch from now() - opened_at)::float8 as seconds
  from (${LABELS.map(
    ({ environment, reason }) => `
    (select environment, reason, opened_at from funds.block
      where closed_at is null and environment = '${environment}' and reason = '${reason}'
      order by opened_at limit 1)`,
  ).join(' union all')}) oldest`,
};

/**
 * Registers a gauge of the age of the oldest KYC and compliance holds. All processes on a database report the same
 * values.
 */
export function registerOldestHoldMetrics(db: CrossTenantDatabase): void {
  registerMeasuredGauges({
    measure: () => db.run<OldestHoldRow>(MEASURE),
    gauges: [
      {
        name: 'payments_funds_oldest_hold_seconds',
        help: 'How long ago the oldest open block of KYC_PENDING and of COMPLIANCE_HOLD began, by environment and reason; 0 without one.',
        labels: LABELS,
        read: (rows, labels) => rowOf(rows, labels)?.seconds ?? 0,
      },
    ],
  });
}
