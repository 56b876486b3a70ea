import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { jsonRows } from '../../platform/database/json-rows.ts';
import { isSuccess } from '../deliveries/delivery.ts';
import { insertErrorNotices } from '../subscriptions/error-notices.sql.ts';
import {
  afterExhaustion,
  afterHolding,
  afterSuccess,
  exhaustionError,
  isSameHealth,
  type SubscriptionHealth,
} from '../subscriptions/subscription.ts';
import type { PlannedReport, ReportedRow } from './plan-reports.ts';

/** Stores the health of the subscriptions whose health the reports change. */
export async function storeHealths(run: Run, planned: readonly PlannedReport[]): Promise<void> {
  const healths = changedHealths(planned);
  if (healths.length > 0) await run(STORE_HEALTH, { rows: jsonRows(healths.map(healthRow)) });
}

/**
 * Stores the health of subscriptions, unless their generation has changed. When one enters ERROR, its merchant's contact is
 * notified.
 */
const STORE_HEALTH: Statement = {
  name: 'store_health',
  text: `
with stored as (
update webhooks.subscription s
   set state = h.state, error = h.error, error_at = h.error_at, holding = h.holding,
       probe_at = h.probe_at
  from json_to_recordset(:rows::json) as h (
    merchant_id uuid, environment text, id uuid, generation bigint, state text, error jsonb,
    error_at timestamptz, holding boolean, probe_at timestamptz, request_id text)
 where s.merchant_id = h.merchant_id and s.environment = h.environment and s.id = h.id
   and s.generation = h.generation
returning s.merchant_id, s.environment, s.id, s.state, old.state as was, h.request_id
)${insertErrorNotices('stored')}`,
};

/** The row of a subscription whose health changes, for `jsonRows`. */
const healthRow = ({ row, health }: ChangedHealth) => ({
  merchantId: row.merchant_id,
  environment: row.environment,
  id: row.subscription_id,
  generation: row.generation,
  state: health.state,
  error: health.error?.details,
  errorAt: health.error?.at,
  holding: health.held !== undefined,
  probeAt: health.held?.probeAt,
  requestId: row.request_id,
});

/** A subscription whose health changes, with the last delivery that changes it. */
interface ChangedHealth {
  readonly row: ReportedRow;
  readonly health: SubscriptionHealth;
}

/**
 * The subscriptions whose health the reports change. Outcomes of an earlier generation change nothing, except that a
 * held delivery of any generation needs a subscription that probes.
 */
function changedHealths(planned: readonly PlannedReport[]): ChangedHealth[] {
  const healths = new Map<string, ChangedHealth>();
  for (const report of planned) {
    const { row } = report;
    if (!report.change || (report.report.generation !== row.generation && !report.overLimit)) continue;
    const before = healths.get(row.subscription_id)?.health ?? healthOf(row);
    healths.set(row.subscription_id, { row, health: healthAfter(before, report) });
  }
  return [...healths.values()].filter(({ row, health }) => !isSameHealth(health, healthOf(row)));
}

function healthAfter(
  health: SubscriptionHealth,
  { row, change, overLimit, report: { number, result } }: PlannedReport,
): SubscriptionHealth {
  if (row.ended_at) return health;
  if (overLimit) return afterHolding(health, row.now);
  if (!result) return health;
  if (isSuccess(result)) return afterSuccess(health);
  if (change?.status !== 'EXHAUSTED') return health;
  return afterExhaustion(health, exhaustionError(row, number, result), result.endedAt);
}

function healthOf(row: ReportedRow): SubscriptionHealth {
  return {
    state: row.state,
    error: row.error && row.error_at ? { details: row.error, at: row.error_at } : undefined,
    held: row.holding ? { probeAt: row.probe_at ?? undefined } : undefined,
  };
}
