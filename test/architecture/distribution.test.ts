import { readFile } from 'node:fs/promises';
import { createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { BlockReason, FundsService, RefundDebitState } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { RefundCaseScope, RefundCaseService } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { periodicTasksFor } from '../../services/periodic-tasks.ts';
import { Database } from '../../services/platform/database/database.ts';
import { createTestDatabase, startHarness } from '../support/harness.ts';
import { readMetrics } from '../support/scrape.ts';
import { query } from '../support/sql.ts';
import {
  DISTRIBUTION,
  distributedTables,
  recordStatements,
  unscopedStatements,
} from './distributed-tables.ts';
import { tablesOfAnyMerchant } from './merchant-predicate.ts';

const KEYS = `
select c.conrelid::regclass::text as "table", c.conname as name,
       array(select a.attname::text from unnest(c.conkey) with ordinality k (number, place)
              join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number order by place) as columns,
       c.confrelid::regclass::text as referenced,
       array(select a.attname::text from unnest(c.confkey) with ordinality k (number, place)
              join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.number order by place) as "referencedColumns"
  from pg_constraint c where c.contype in ('p', 'u', 'x', 'f')
 union all
select i.indrelid::regclass::text, i.indexrelid::regclass::text,
       array(select pg_get_indexdef(i.indexrelid, place, false) from generate_series(1, i.indnkeyatts) place), '-', '{}'
  from pg_index i where i.indisunique`;

interface Key {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly referenced: string;
  readonly referencedColumns: readonly string[];
}

/**
 * RPCs that query every node because they work across merchants by design (the queues of operations, the scans that
 * compare areas, the release and the verification of all accounts), with the tables that they read for any merchant.
 */
const ACROSS_MERCHANTS = {
  'AdvanceService.ListAdvanceQueue': ['advances.request'],
  'AdvanceService.ListProviderQueue': ['advances.request'],
  'AdvanceService.ScanAdvanceRequests': ['advances.request'],
  'FundsService.ListDebtQueue': ['funds.deduction', 'funds.release'],
  'FundsService.ListVerificationQueue': ['funds.failing_account'],
  'FundsService.ReleaseDueFunds': ['funds.installment', 'funds.release', 'funds.reservation'],
  'FundsService.ScanDeductions': [
    'funds.block',
    'funds.deduction',
    'funds.installment',
    'funds.posting',
    'funds.refund_debit',
    'funds.sale',
  ],
  'FundsService.ScanOpenBlocks': ['funds.block'],
  'FundsService.ScanRefundDebits': ['funds.refund_debit'],
  'FundsService.ScanReservations': ['funds.reservation'],
  'FundsService.VerifyFunds': ['funds.account'],
  'RefundCaseService.ListDisputeQueue': ['refunds.dispute'],
  'RefundCaseService.ListProviderQueue': ['refunds.refund_case'],
  'RefundCaseService.ListRefundCaseQueue': ['refunds.dispute', 'refunds.refund_case'],
  'RefundCaseService.ScanDisputes': ['refunds.dispute'],
  'RefundCaseService.ScanRefundCases': ['refunds.refund_case'],
};

const distributed = await distributedTables();
const statements = recordStatements();
const harness = await startHarness();
afterAll(async () => {
  vi.restoreAllMocks();
  await harness.close();
});

describe('distributed tables', () => {
  test('are all tables of the areas of reads and money', async () => {
    const rows = await query(
      harness.databaseUrl,
      `select c.oid::regclass::text as "table" from pg_class c
        where c.relkind in ('r', 'p') and not c.relispartition
          and c.relnamespace::regnamespace::text in ('catalog', 'refunds', 'funds', 'advances')`,
    );
    expect(rows.map(({ table }) => table).sort()).toEqual([...distributed].sort());
  });

  test('have the merchant in every key, and reference only each other, within a merchant', async () => {
    const keys = (await query(harness.databaseUrl, KEYS)) as Key[];
    const theirs = keys.filter(({ table }) => distributed.includes(table));
    expect(new Set(theirs.map(({ table }) => table)).size).toBe(distributed.length);
    const without = theirs.filter(({ columns }) => !columns.includes('merchant_id'));
    const elsewhere = theirs.filter(
      ({ columns, referenced, referencedColumns }) =>
        referenced !== '-' &&
        (!distributed.includes(referenced) ||
          columns.indexOf('merchant_id') !== referencedColumns.indexOf('merchant_id')),
    );
    const fromOutside = keys.filter(
      ({ table, referenced }) => distributed.includes(referenced) && !distributed.includes(table),
    );
    expect({ without, elsewhere, fromOutside }).toEqual({ without: [], elsewhere: [], fromOutside: [] });
  });

  test('are read without a merchant only by RPCs that work across merchants', async () => {
    const found: Record<string, string[]> = {};
    for (const [rpc, call] of Object.entries(callsAcrossMerchants())) {
      statements.clear();
      await call();
      const tables = new Set((await unscopedStatements(statements, distributed)).map(({ table }) => table));
      found[rpc] = [...tables].sort();
    }
    expect(found).toEqual(ACROSS_MERCHANTS);
  });

  test('have rows locked, or joined with values, only within a merchant, also by periodic tasks and gauges', async () => {
    statements.clear();
    for (const call of Object.values(callsAcrossMerchants())) await call();
    await runPeriodicTasks();
    await readMetrics();
    const unscoped = await unscopedStatements(statements, distributed);
    const tables = unscoped.map(({ table }) => table);
    expect(tables).toEqual(
      expect.arrayContaining(['advances.quote', 'advances.request', 'refunds.refund_case']),
    );
    // Citus refuses both across merchants.
    const refused = /\bfor (no key update|update|key share|share)\b|\(values\b/;
    expect(unscoped.filter(({ sql }) => refused.test(sql))).toEqual([]);
  });
});

test('after the distribution, a role still needs rights only on the table that it writes', async () => {
  const url = await createTestDatabase();
  const citus = `
    create function citus_add_local_table_to_metadata(regclass) returns void language sql as '';
    create function create_distributed_table(text, text, colocate_with text) returns void language sql as ''`;
  await query(
    url,
    citus,
    await readFile(DISTRIBUTION, 'utf8'),
    'begin; create role sender',
    'grant usage on schema platform to sender; grant delete on platform.outbox_command to sender',
    'set local role sender',
    'delete from platform.outbox_command',
    'rollback',
  );
});

async function runPeriodicTasks(): Promise<void> {
  const options = { url: harness.databaseUrl, poolSize: 2, preparedStatements: true, entities: [] };
  const database = await Database.open(options);
  for (const task of periodicTasksFor(harness.config.SERVICES, harness.config))
    await database.transaction((em) => task.runBatch(em, database));
  await database.close();
}

function callsAcrossMerchants(): Record<keyof typeof ACROSS_MERCHANTS, () => Promise<unknown>> {
  const { inProcess } = harness.transports;
  const advances = createClient(AdvanceService, inProcess);
  const funds = createClient(FundsService, inProcess);
  const refunds = createClient(RefundCaseService, inProcess);
  return {
    'AdvanceService.ListAdvanceQueue': () => advances.listAdvanceQueue({}),
    'AdvanceService.ListProviderQueue': () => advances.listProviderQueue({}),
    'AdvanceService.ScanAdvanceRequests': () => advances.scanAdvanceRequests({}),
    'FundsService.ListDebtQueue': () => funds.listDebtQueue({}),
    'FundsService.ListVerificationQueue': () => funds.listVerificationQueue({}),
    'FundsService.ReleaseDueFunds': () => funds.releaseDueFunds({}),
    'FundsService.ScanDeductions': () => funds.scanDeductions({}),
    'FundsService.ScanOpenBlocks': () => funds.scanOpenBlocks({ reason: BlockReason.REFUND_IN_PROGRESS }),
    'FundsService.ScanRefundDebits': () => funds.scanRefundDebits({ state: RefundDebitState.DEBITED }),
    'FundsService.ScanReservations': () => funds.scanReservations({}),
    'FundsService.VerifyFunds': () => funds.verifyFunds({}),
    'RefundCaseService.ListDisputeQueue': () => refunds.listDisputeQueue({}),
    'RefundCaseService.ListProviderQueue': () => refunds.listProviderQueue({}),
    'RefundCaseService.ListRefundCaseQueue': () => refunds.listRefundCaseQueue({}),
    'RefundCaseService.ScanDisputes': () => refunds.scanDisputes({}),
    'RefundCaseService.ScanRefundCases': () => refunds.scanRefundCases({ scope: RefundCaseScope.OPEN }),
  };
}

describe('the rule', () => {
  test.each([
    ['select * from funds.sale where merchant_id = $1', []],
    ["select * from funds.sale where merchant_id = '1'::uuid and id = $2", []],
    ['select * from funds.sale where id = $1', ['funds.sale']],
    ['update funds.sale set status = $1 where merchant_id = $2 or true', ['funds.sale']],
    ['select merchant_id from funds.sale where merchant_id = any($1)', ['funds.sale']],
    ["delete from funds.sale where (merchant_id, id) in (('1', '2'), ('3', '4'))", []],
    ['select * from funds.sale s join funds.block b using (merchant_id) where s.merchant_id = $1', []],
    [
      'select * from funds.sale s join funds.block b on b.sale_id = s.id where s.merchant_id = $1',
      ['funds.block'],
    ],
    [
      'select (select 1 from funds.block b where b.merchant_id = s.merchant_id) from funds.sale s where s.merchant_id = $1',
      [],
    ],
    ['with s as (select id from funds.sale) select * from s where merchant_id = $1', ['funds.sale']],
    ['insert into funds.sale (id) values ($1)', ['funds.sale']],
    ['insert into funds.sale (merchant_id, id) select merchant_id, id from funds.block', ['funds.block']],
  ])('of %s', async (sql, tables) => {
    expect(await tablesOfAnyMerchant(sql)).toEqual(tables);
  });
});
