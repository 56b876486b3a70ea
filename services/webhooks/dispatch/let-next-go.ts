import type { EnvironmentName } from '../../platform/tenant.ts';
import { letNextGo } from '../ordered-deliveries.ts';
import type { DispatchDatabase, Run, Statement } from './dispatch-database.ts';
import { LOCK_SUBSCRIPTIONS } from './record-attempts.sql.ts';

/** Deliveries of one object to one ordered subscription. */
export interface LineRow {
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly subscription_id: string;
  readonly object_id: string;
}

const LET_NEXT_GO: Statement = {
  name: 'let_next_go',
  text: letNextGo(`(
  select distinct * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[])
                      as asked (merchant_id, environment, subscription_id, object_id))`),
};

/** Lets the first delivery of each of these lines go; their subscriptions are locked by the caller. */
export async function letNextOfLinesGo(run: Run, lines: readonly LineRow[]): Promise<void> {
  if (lines.length === 0) return;
  await run(LET_NEXT_GO, [
    lines.map(({ merchant_id }) => merchant_id),
    lines.map(({ environment }) => environment),
    lines.map(({ subscription_id }) => subscription_id),
    lines.map(({ object_id }) => object_id),
  ]);
}

/** Locks the subscriptions until the transaction ends. */
export async function lockSubscriptions(
  run: Run,
  rows: readonly Omit<LineRow, 'object_id'>[],
): Promise<void> {
  if (rows.length === 0) return;
  await run(LOCK_SUBSCRIPTIONS, [
    rows.map(({ merchant_id }) => merchant_id),
    rows.map(({ environment }) => environment),
    rows.map(({ subscription_id }) => subscription_id),
  ]);
}

const STUCK_LINES: Statement = {
  name: 'stuck_lines',
  text: `
select d.merchant_id, d.environment, d.subscription_id, d.object_id
  from webhooks.open_delivery d
 where d.status = 'BLOCKED' and not exists (
   select from webhooks.open_delivery earlier
    where earlier.ordered and earlier.subscription_id = d.subscription_id and earlier.object_id = d.object_id
      and earlier.sequence < d.sequence)
 limit 1000`,
};

/**
 * Lets go what waits for nothing any more: where an earlier event was judged by one dispatcher to match a subscription
 * that was just then disabled and enabled again, and by another not to.
 */
export async function letStuckGo(db: DispatchDatabase): Promise<void> {
  const lines = await db.run<LineRow>(STUCK_LINES, []);
  if (lines.length === 0) return;
  await db.transaction(async (run) => {
    await lockSubscriptions(run, lines);
    await letNextOfLinesGo(run, lines);
  });
}
