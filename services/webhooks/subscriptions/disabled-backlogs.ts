import { randomUUID } from 'node:crypto';
import { NIL } from 'uuid';
import { executeNamed } from '../../platform/database/named-sql.ts';
import { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { PeriodicTask } from '../../platform/process/periodic-tasks.ts';
import { type EnvironmentName, tenantOfRow } from '../../platform/tenant.ts';
import { cancelOpenDeliveries } from '../deliveries/cancel-open-deliveries.ts';

/** The number of disabled subscriptions that one run examines. */
const EXAMINED = 10_000;

/** The first of the next disabled subscriptions that has open deliveries, otherwise the last one examined. */
const FIND_BACKLOG = `
select * from (
  select s.merchant_id, s.environment, s.id, s.place, exists (
           select from webhooks.open_delivery d
            where d.merchant_id = s.merchant_id and d.environment = s.environment and d.subscription_id = s.id) as found
    from (select merchant_id, environment, id, row_number() over (order by id) as place
            from webhooks.subscription where state = 'DISABLED' and id >= :from and (id > :from or :again)
             order by id limit ${EXAMINED}) s) examined
 where found or place = ${EXAMINED}
 order by place limit 1`;

interface BacklogRow {
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly id: string;
  readonly found: boolean;
}

/** Where the next run begins: after the last subscription, so that one that fails does not stop the others. */
let next: { readonly from: string; readonly again: boolean } = { from: NIL, again: true };

/** Cancels deliveries of DISABLED subscriptions that were left open because time ran out or the process died. */
export const disabledBacklogs: PeriodicTask = {
  name: 'disabled-webhook-backlogs',
  intervalMs: 60_000,
  async runBatch(em) {
    const [row] = await executeNamed<BacklogRow>(em, FIND_BACKLOG, next);
    next = row ? { from: row.id, again: false } : { from: NIL, again: true };
    if (!row?.found) return { rows: 0, more: false };
    const tenant = tenantOfRow(row);
    const tx = new TenantTransaction(em, tenant, randomUUID());
    const { count, last } = await cancelOpenDeliveries(tx, 'subscription_id', row.id);
    if (last) next = { from: row.id, again: true };
    return { rows: count, more: true };
  },
};
