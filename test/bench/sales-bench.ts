import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, createClient } from '@connectrpc/connect';
import pg from 'pg';
import { FundsService, SaleMethod } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { median, quantile } from '../support/quantile.ts';
import { startBenchServices } from './bench-services.ts';

const SECONDS = 10;
const PER_SECOND = 500;
const AT_A_TIME = 64;
const INSTALLMENTS = 10;
const LEAST_PER_SECOND = 500;

/** A sale as one transaction of plain SQL: the rows that RecordSale writes, without its rules and its events. */
const referenceScript = (merchantId: string) => `
begin;
select from funds.account where merchant_id = '${merchantId}' and environment = 'live' for update;
with sale as (
  insert into funds.sale
    (merchant_id, environment, id, method, gross_minor, fees_minor, installments, captured_at, status)
  values ('${merchantId}', 'live', gen_random_uuid(), 'CARD', 100000, 0, ${INSTALLMENTS}, now(), 'SCHEDULED')
  returning id)
insert into funds.installment
  (merchant_id, environment, id, sale_id, number, part, split, date, gross_minor, fees_minor, deducted_minor,
   advanced_minor, status, released, held_by, version)
select '${merchantId}', 'live', gen_random_uuid(), sale.id, n, 1, false, current_date + 30 * n, 10000, 0, 0, 0,
       'SCHEDULED', false, '{}', 1
  from sale, generate_series(1, ${INSTALLMENTS}) n;
insert into funds.release as r
  (merchant_id, environment, date, status, gross_minor, fees_minor, deducted_minor, advanced_minor, sales_count,
   first_parts, held_by_dispute, held_by_refund, held_by_kyc, held_by_compliance)
select '${merchantId}', 'live', current_date + 30 * n, 'SCHEDULED', 10000, 0, 0, 0, 1, 1, 0, 0, 0, 0
  from generate_series(1, ${INSTALLMENTS}) n
on conflict (merchant_id, environment, date, status) do update
   set gross_minor = r.gross_minor + excluded.gross_minor, sales_count = r.sales_count + 1,
       first_parts = r.first_parts + 1;
update funds.account set schedule_id = gen_random_uuid()
 where merchant_id = '${merchantId}' and environment = 'live';
insert into platform.idempotency_record (merchant_id, environment, caller, method, key, request_hash, response)
values ('${merchantId}', 'live', 'pgbench', 'RecordSale', gen_random_uuid()::text, sha256('request'), 'response');
commit;
`;

type Funds = Client<typeof FundsService>;

/**
 * Sales of one merchant a second, compared with the same rows written by pgbench, one merchant and one transaction a
 * sale.
 */
export async function benchSales(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { services, databaseUrl } = await startBenchServices(stack);
  const grants = new Set(['funds:read', 'funds:write']);
  const funds = createClient(FundsService, services.transportFor({ name: 'bench', grants }));
  console.log(`sales of one merchant, ${INSTALLMENTS} installments each, ${availableParallelism()} cores`);
  await recordAtRate(funds, randomUUID());
  console.log(`at ${PER_SECOND} a second: ${describe(await recordAtRate(funds, randomUUID()))}`);
  const most = await recordConcurrently(funds, randomUUID());
  console.log(`most, ${AT_A_TIME} calls at a time: ${describe(most)}`);
  const reference = await runPgbench(databaseUrl, stack);
  if (reference === undefined) console.log('pgbench is not installed');
  else {
    const ratio = most.perSecond / reference;
    console.log(`pgbench: ${reference.toFixed(0)} a second, ratio ${ratio.toFixed(2)}`);
  }
  if (most.perSecond < LEAST_PER_SECOND) console.log(`BELOW ${LEAST_PER_SECOND} a second`);
}

interface Result {
  readonly perSecond: number;
  readonly tookMs: readonly number[];
}

const describe = ({ perSecond, tookMs }: Result) =>
  `${perSecond.toFixed(0)} a second, p50 ${median(tookMs).toFixed(1)} ms, p99 ${quantile(tookMs, 0.99).toFixed(1)} ms`;

async function recordSale(funds: Funds, merchantId: string, tookMs: number[]): Promise<void> {
  const startedAt = performance.now();
  await funds.recordSale({
    merchantId,
    environment: Environment.LIVE,
    idempotencyKey: randomUUID(),
    saleId: randomUUID(),
    method: SaleMethod.CARD,
    installments: INSTALLMENTS,
    grossAmountMinor: 100_000n,
    feesAmountMinor: 4_000n,
  });
  tookMs.push(performance.now() - startedAt);
}

/** Starts sales at a steady rate, however long earlier ones take. */
async function recordAtRate(funds: Funds, merchantId: string): Promise<Result> {
  const tookMs: number[] = [];
  const calls: Promise<void>[] = [];
  const startedAt = performance.now();
  while (calls.length < PER_SECOND * SECONDS) {
    const due = ((performance.now() - startedAt) / 1_000) * PER_SECOND;
    while (calls.length < Math.min(due, PER_SECOND * SECONDS))
      calls.push(recordSale(funds, merchantId, tookMs));
    await delay(2);
  }
  await Promise.all(calls);
  return verified(funds, merchantId, startedAt, tookMs);
}

/** Keeps this many sales running. */
async function recordConcurrently(funds: Funds, merchantId: string): Promise<Result> {
  const tookMs: number[] = [];
  const startedAt = performance.now();
  const caller = async () => {
    while (performance.now() - startedAt < SECONDS * 1_000) await recordSale(funds, merchantId, tookMs);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, caller));
  return verified(funds, merchantId, startedAt, tookMs);
}

/** Verifies the funds: the measurement counts only if they add up. */
async function verified(
  funds: Funds,
  merchantId: string,
  startedAt: number,
  tookMs: number[],
): Promise<Result> {
  const perSecond = tookMs.length / ((performance.now() - startedAt) / 1_000);
  const { differences } = await funds.verifyFunds({ merchantId, environment: Environment.LIVE });
  if (differences.length > 0) throw new Error(`the books differ: ${JSON.stringify(differences[0])}`);
  return { perSecond, tookMs };
}

/** Transactions a second of the reference; undefined where pgbench is not installed. */
async function runPgbench(databaseUrl: string, stack: AsyncDisposableStack): Promise<number | undefined> {
  const merchantId = randomUUID();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("insert into funds.account values ($1, 'live', gen_random_uuid())", [merchantId]);
  await client.end();
  const folder = await mkdtemp(join(tmpdir(), 'payments-pgbench-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const script = join(folder, 'sale.sql');
  await writeFile(script, referenceScript(merchantId));
  const options = [
    '--no-vacuum',
    '--protocol=prepared',
    '--client=8',
    `--time=${SECONDS}`,
    `--file=${script}`,
  ];
  const child = spawn('pgbench', [...options, databaseUrl], { stdio: ['ignore', 'pipe', 'inherit'] });
  const failed = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(true));
    child.once('spawn', () => resolve(false));
  });
  if (failed) return undefined;
  const output = await text(child.stdout);
  return Number(/tps = ([\d.]+)/.exec(output)?.[1]);
}
