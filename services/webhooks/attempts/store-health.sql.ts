import type { Statement } from '../../platform/database/cross-tenant-database.ts';
import { insertErrorNotices } from '../subscriptions/error-notices.sql.ts';
import type { ChangedHealth } from './plan-reports.ts';

/**
 * Stores the health of subscriptions, unless their generation has changed. When one enters ERROR, its merchant's contact is
 * notified.
 */
export const STORE_HEALTH: Statement = {
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

/** The row of a subscription whose health changes. */
export const healthRow = ({ row, health }: ChangedHealth) => ({
  merchant_id: row.merchant_id,
  environment: row.environment,
  id: row.subscription_id,
  generation: String(row.generation),
  state: health.state,
  error: health.error?.details ?? null,
  error_at: health.error?.at ?? null,
  holding: health.held !== undefined,
  probe_at: health.held?.probeAt ?? null,
  request_id: row.request_id,
});
