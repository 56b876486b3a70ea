import { afterAll, expect, test } from 'vitest';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { auditPartitions } from '../../../../services/platform/writes/audit-partitions.ts';
import { createTestDatabase } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { sqlOf } from '../../../support/sql.ts';

const databaseUrl = await createTestDatabase();
const database = await openDatabase(databaseUrl);
afterAll(() => database.close());

const sql = <Row extends object>(text: string) => sqlOf<Row>({ databaseUrl }, text);
const task = auditPartitions(730 * DAY_MS);
const run = () => database.transaction((em) => task.runBatch(em, database));
const kept = async () => {
  const rows = await sql<{ age: number }>(
    'select extract(day from now() - occurred_at)::int as age from platform.audit_entry',
  );
  return rows.map(({ age }) => age).sort((a, b) => a - b);
};

test('entries are dropped with their partition once its whole retention period has passed', async () => {
  await sql(`select platform.ensure_audit_partitions(now() - interval '1000 days', now())`);
  await sql(`insert into platform.audit_entry
      (merchant_id, environment, id, caller, action, ip_address, request_id, occurred_at)
    select gen_random_uuid(), 'live', platform.first_id(now() - age * interval '1 day'), 'test', 'a', '', 'r',
           now() - age * interval '1 day'
      from unnest(array[0, 700, 729, 761, 900, 999]) as age`);
  const before = await sql<{ names: number }>(`select count(*)::int as names from pg_inherits
    where inhparent = 'platform.audit_entry'::regclass`);
  // A partition that an interrupted run has detached is dropped as well.
  const [oldest] = await sql<{ name: string }>(`select inhrelid::regclass::text as name from pg_inherits
    where inhparent = 'platform.audit_entry'::regclass order by 1 limit 1`);
  await sql(`alter table platform.audit_entry detach partition ${oldest!.name}`);
  const { rows, more } = await run();
  expect(more).toBe(false);
  expect(rows).toBeGreaterThanOrEqual(8);
  expect(rows).toBeLessThanOrEqual(10);
  expect(await kept()).toEqual([0, 700, 729]);
  const after = await sql<{ names: number }>(`select count(*)::int as names from pg_class
    where relname ~ '^audit_entry_\\d{8}$' and relkind = 'r'`);
  expect(after[0]!.names).toBe(before[0]!.names - rows);
  expect(await run()).toEqual({ rows: 0, more: false });
});

test('partitions are created ahead of time', async () => {
  const [last] = await sql<{ name: string }>(`select inhrelid::regclass::text as name from pg_inherits
    where inhparent = 'platform.audit_entry'::regclass order by 1 desc limit 1`);
  await sql(`drop table ${last!.name}`);
  expect(await run()).toEqual({ rows: 1, more: true });
  expect(await run()).toEqual({ rows: 0, more: false });
});
