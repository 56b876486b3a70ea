import { v7 as uuidv7 } from 'uuid';
import { civilDateAt } from '../../platform/civil-date.ts';
import { isNumberOutOfRange } from '../../platform/database/database-errors.ts';
import { jsonRows } from '../../platform/database/json-rows.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { outOfRange } from '../../platform/errors.ts';
import type { Movement } from './movement.ts';

const ROWS = `
json_to_recordset(:rows::json) as m (
  id uuid, kind text, source_id uuid, sale_id uuid, release_date date, block_reason text,
  available_minor bigint, scheduled_minor bigint, blocked_minor bigint, occurred_at timestamptz, date date)`;

// Two statements: Citus sends a CTE that both would read to all nodes, and needs all of them for it.
const ADD_TO_DAYS = `
insert into funds.balance_day as d
  (merchant_id, environment, date, available_minor, scheduled_minor, blocked_minor)
select :merchantId, :environment, date, sum(available_minor), sum(scheduled_minor), sum(blocked_minor)
  from ${ROWS} group by date
on conflict (merchant_id, environment, date)
do update set available_minor = d.available_minor + excluded.available_minor,
              scheduled_minor = d.scheduled_minor + excluded.scheduled_minor,
              blocked_minor = d.blocked_minor + excluded.blocked_minor`;

const INSERT = `
insert into funds.movement
  (merchant_id, environment, id, kind, source_id, sale_id, release_date, block_reason, available_minor, scheduled_minor,
   blocked_minor, occurred_at)
select :merchantId, :environment, id, kind, source_id, sale_id, release_date, block_reason, available_minor,
       scheduled_minor, blocked_minor, occurred_at
  from ${ROWS}`;

/**
 * Adds movements to the statement of the account whose lock the transaction holds, and to the sums of their days.
 * OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE) when those would exceed 64 bits: debts have no limit.
 */
export async function recordMovements(tx: TenantTransaction, movements: readonly Movement[]): Promise<void> {
  if (movements.length === 0) return;
  const rows = movements.map((movement) => ({
    ...movement,
    id: uuidv7(),
    date: civilDateAt(movement.occurredAt),
  }));
  const parameters = { rows: jsonRows(rows) };
  try {
    await tx.execute(ADD_TO_DAYS, parameters);
  } catch (error) {
    if (!isNumberOutOfRange(error)) throw error;
    throw outOfRange('AMOUNT_OUT_OF_RANGE', 'the movements of a day exceed 64 bits');
  }
  await tx.execute(INSERT, parameters);
}
