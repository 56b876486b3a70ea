import { randomUUID } from 'node:crypto';
import { executeNamed } from '../../platform/database/named-sql.ts';
import { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { PeriodicTask } from '../../platform/process/periodic-tasks.ts';
import { type EnvironmentName, tenantOfRow } from '../../platform/tenant.ts';
import { removeListener } from './listener-store.ts';

const FIND_EXPIRED = `
select merchant_id, environment, id from webhooks.subscription
 where listening_until < now() order by listening_until limit 1`;

interface ExpiredRow {
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly id: string;
}

/** Removes listeners whose process died before it could. */
export const expiredListeners: PeriodicTask = {
  name: 'expired-webhook-listeners',
  intervalMs: 15_000,
  async runBatch(em) {
    const [row] = await executeNamed<ExpiredRow>(em, FIND_EXPIRED);
    if (!row) return { rows: 0, more: false };
    const tenant = tenantOfRow(row);
    const removed = await removeListener(new TenantTransaction(em, tenant, randomUUID()), row.id);
    return { rows: removed ? 1 : 0, more: true };
  },
};
