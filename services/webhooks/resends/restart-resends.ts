import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { OVERDUE_AFTER_MS } from '../dispatch/dispatch-limits.ts';
import { startResendWorkflow } from './resend-store.ts';

const TAKE_LOST: Statement = {
  name: 'take_lost_resends',
  text: `
update webhooks.resend r set asked_at = now()
  from (select id from webhooks.resend
         where state = 'RUNNING' and asked_at < now() - interval '${OVERDUE_AFTER_MS} ms'
           for update skip locked) lost
 where r.id = lost.id
returning r.merchant_id, r.environment, r.id, r.subscription_id, r.request_id`,
};

interface LostRow {
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly id: string;
  readonly subscription_id: string | null;
  readonly request_id: string;
}

/** Restarts the workflows of resends without progress for two minutes; no effect on a workflow that runs. */
export async function restartResends({
  db,
  writes,
}: {
  db: CrossTenantDatabase;
  writes: Writes;
}): Promise<void> {
  for (const row of await db.run<LostRow>(TAKE_LOST)) {
    const tenant = { merchantId: row.merchant_id, environment: row.environment };
    await writes.transaction(tenant, row.request_id, (tx) =>
      startResendWorkflow(tx, { id: row.id, subscriptionId: row.subscription_id }),
    );
  }
}
