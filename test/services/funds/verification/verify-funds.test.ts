import { randomUUID } from 'node:crypto';
import { Code, createClient } from '@connectrpc/connect';
import type { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest';
import {
  BlockOutcome,
  BlockReason,
  FundsInvariant,
  FundsReleaseStatus,
  FundsService,
  FundsVerificationFailureCause,
} from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { selectDifferences } from '../../../../services/funds/verification/funds-checks.ts';
import { metrics } from '../../../../services/platform/process/telemetry.ts';
import { ALL_GRANTS } from '../../../../services/platform/rpc/grants.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { openSession, sqlOf } from '../../../support/sql.ts';
import { type FundsCaller, fundsCaller } from '../funds-caller.ts';
import { CORRUPTIONS } from './corruptions.ts';
import { verifyFunds } from './verify-funds.ts';

const SOLD = '2020-06-01';

const harness = await startHarness({ SERVICES: 'funds' });
const funds = fundsCaller(harness.transports.inProcess);
await playEverything(funds);
afterAll(() => harness.close());

/** An account with records of every kind. */
async function playEverything({ client, write, ...caller }: FundsCaller): Promise<void> {
  const { saleId } = await caller.sell({ on: SOLD, gross: 1_000n, fees: 10n, installments: 3 });
  const lost = await caller.sell({ on: SOLD, gross: 500n });
  const debit = await caller.sell({ on: SOLD, gross: 700n, instant: true });
  const [source, refund, reversed] = [randomUUID(), randomUUID(), randomUUID()];
  await caller.deduct(50n, saleId, SOLD);
  await caller.block(lost.saleId, source, BlockReason.HOLD_OR_DISPUTE, SOLD);
  await caller.unblock(lost.saleId, source, BlockOutcome.CONSUMED, BlockReason.HOLD_OR_DISPUTE, SOLD);
  await caller.debit(refund, 100n, debit.saleId, SOLD);
  await caller.debit(reversed, 90n, debit.saleId, SOLD);
  await caller.reverse(reversed, SOLD);
  const [settled, freed, held] = [randomUUID(), randomUUID(), randomUUID()];
  for (const id of [settled, freed, held]) {
    const { installments } = await caller.advanceable(SOLD);
    await caller.reserve(installments.slice(0, 1), id, SOLD);
    if (id === settled) await caller.settle(id, SOLD);
    if (id === freed) await caller.free(id, SOLD);
  }
  await caller.deduct(5_000n, undefined, SOLD);
  await client.recordDebtPayment({ ...write(SOLD), paymentId: randomUUID(), amountMinor: 40n });
  const blocked = await caller.sell({ on: SOLD, gross: 300n, instant: true });
  await caller.block(blocked.saleId, randomUUID(), BlockReason.KYC_PENDING, SOLD);
  await caller.block(blocked.saleId, randomUUID(), BlockReason.COMPLIANCE_HOLD, SOLD);
  const split = await caller.sell({ on: '2020-06-02', gross: 600n, fees: 60n, instant: true });
  await caller.block(split.saleId, randomUUID(), BlockReason.HOLD_OR_DISPUTE, '2020-06-02', 250n);
  await client.awaitFunding({
    ...write(SOLD),
    refundCaseId: randomUUID(),
    amountMinor: 9_000n,
    execution: 1,
    requestedAt: write(SOLD).occurredAt!,
  });
}

describe('the checks', () => {
  let client: Client;
  beforeAll(async () => {
    client = await openSession(harness.databaseUrl);
    await client.query('begin');
    await client.query(`do $$ declare it record; begin
      for it in select conname, conrelid::regclass as relation from pg_constraint
                 where connamespace = 'funds'::regnamespace and contype in ('c', 'f', 'u') order by contype = 'u'
      loop execute format('alter table %s drop constraint %I', it.relation, it.conname); end loop;
    end $$; savepoint uncorrupted`);
  });
  afterEach(() => client.query('rollback to uncorrupted'));
  afterAll(() => client.end());

  /** The names of the differences after a statement on the account's rows. */
  async function foundAfter(corruption: string): Promise<string[]> {
    const { rowCount } = await client.query(corruption);
    expect(rowCount).toBeGreaterThan(0);
    const merchantId = funds.tenant.merchantId;
    const { sql, parameters } = selectDifferences({ merchantId, environment: 'live' });
    const { rows } = await client.query(sql, [...parameters]);
    return [...new Set(rows.map(({ invariant, figure }) => `${invariant} ${figure}`))].sort();
  }

  it('find nothing in data written by the commands', async () => {
    expect(await foundAfter('update funds.installment set version = version + 1')).toEqual([]);
  });

  test.each(CORRUPTIONS)('find %s', async (_, corruption, told) => {
    expect(await foundAfter(corruption)).toEqual(expect.arrayContaining([...told]));
  });

  it('detect violations of every invariant', () => {
    const told = CORRUPTIONS.flatMap(([, , those]) => those.map((difference) => difference.split(' ')[0]));
    const invariants = Object.keys(FundsInvariant).filter((name) => /^[A-Z_]+$/.test(name));
    expect(new Set(['UNSPECIFIED', ...told])).toEqual(new Set(invariants));
  });
});

describe('VerifyFunds', () => {
  it('returns stored figures that differ from their expected values', async () => {
    const caller = fundsCaller(harness.transports.inProcess, newTenant(Environment.TEST));
    const { merchantId } = caller.tenant;
    await caller.sell({ on: SOLD, gross: 100n, instant: true });
    expect(await caller.client.verifyFunds(caller.tenant)).toMatchObject({
      differences: [],
      verifiedAccounts: 1,
    });
    const before = await differencesCounted('SALES_COUNT');
    const corrupt = 'update funds.release set sales_count = sales_count + $2 where merchant_id = $1';
    await sqlOf(harness, corrupt, [merchantId, 1]);
    const { differences, next } = await caller.client.verifyFunds(caller.tenant);
    const same = { account: caller.tenant, invariant: FundsInvariant.SALES_COUNT, date: SOLD, expected: '1' };
    expect(differences).toMatchObject([
      { ...same, figure: 'sales_count', status: FundsReleaseStatus.RELEASED, found: '2' },
    ]);
    expect(next).toBeUndefined();
    expect(await differencesCounted('SALES_COUNT')).toBe(before + 1);
    await sqlOf(harness, corrupt, [merchantId, -1]);
  });

  it('covers all accounts, some per call, and reports the end', async () => {
    const others = Array.from({ length: 24 }, (_, index) =>
      fundsCaller(harness.transports.inProcess, newTenant(index % 2 ? Environment.LIVE : Environment.TEST)),
    );
    for (const other of others) await other.sell({ on: SOLD, gross: 100n });
    const ended = await lastEnd();
    const first = await funds.client.verifyFunds({});
    expect(first.verifiedAccounts).toBe(20);
    expect(first.next).toBeDefined();
    await funds.client.verifyFunds(funds.tenant);
    expect(await lastEnd()).toBe(ended);
    const started = Date.now() / 1000;
    const rest = await funds.client.verifyFunds({ after: first.next! });
    expect(rest).toMatchObject({ differences: [], verifiedAccounts: 6 });
    expect(rest.next).toBeUndefined();
    expect(await lastEnd()).toBeGreaterThanOrEqual(started);
    expect(await verifyFunds(harness)).toBe(26);
  });

  it('requires the grant operations for all merchants, an environment with a merchant, and no position for one account', async () => {
    const grants = new Set(ALL_GRANTS.filter((grant) => grant !== 'operations'));
    const client = createClient(FundsService, harness.services.transportFor({ name: 'other', grants }));
    await expectRefusal(client.verifyFunds({}), Code.PermissionDenied, 'GRANT_MISSING', {
      grant: 'operations',
    });
    expect(await client.verifyFunds(funds.tenant)).toMatchObject({ verifiedAccounts: 1 });
    const { merchantId } = funds.tenant;
    const refusal = [Code.InvalidArgument, 'INVALID_ARGUMENT'] as const;
    await expectRefusal(client.verifyFunds({ merchantId }), ...refusal, { field: 'environment' });
    const placed = { ...funds.tenant, after: funds.tenant };
    await expectRefusal(client.verifyFunds(placed), ...refusal, { field: 'after' });
  });

  it('reports an account that the database cannot recompute, and verifies the others', async () => {
    const caller = fundsCaller(harness.transports.inProcess);
    await caller.sell({ on: SOLD, gross: 100n });
    const before = { all: await verifyFunds(harness), failed: await failuresCounted('ERROR') };
    await sqlOf(harness, 'alter table funds.sale drop constraint sale_installments_check');
    const setInstallments = 'update funds.sale set installments = $2 where merchant_id = $1';
    await sqlOf(harness, setInstallments, [caller.tenant.merchantId, 0]);
    const [found, alone] = [await verifyAll(), await caller.client.verifyFunds(caller.tenant)];
    await sqlOf(harness, setInstallments, [caller.tenant.merchantId, 1]);
    const failures = [{ account: caller.tenant, cause: FundsVerificationFailureCause.ERROR }];
    expect(found).toMatchObject({ verified: before.all - 1, differences: [], failures });
    expect(alone).toMatchObject({ verifiedAccounts: 0, differences: [], failures });
    expect(await failuresCounted('ERROR')).toBe(before.failed + 2);
  });

  it('gives up on an account after five seconds, and continues with the next', async () => {
    const [all, before] = [await verifyFunds(harness), await failuresCounted('TIMEOUT')];
    await using locker = await openSession(harness.databaseUrl);
    await locker.query('begin; lock table funds.posting in access exclusive mode');
    const started = performance.now();
    const verifying = verifyAll();
    await expect.poll(() => failuresCounted('TIMEOUT'), { timeout: 40_000 }).toBe(before + 1);
    expect(performance.now() - started).toBeGreaterThan(4_900);
    await locker.end();
    const { verified, differences, failures } = await verifying;
    expect({ verified, differences }).toEqual({ verified: all - 1, differences: [] });
    expect(failures).toMatchObject([{ cause: FundsVerificationFailureCause.TIMEOUT }]);
  });

  it('does not wait for commands, and sees each either completely or not at all', async () => {
    const caller = fundsCaller(harness.transports.inProcess);
    const { saleId } = await caller.sell({ on: SOLD, gross: 90_000n, installments: 90 });
    // Few at a time: a call does not wait long for a connection.
    const writing = Array.from({ length: 4 }, async () => {
      for (let each = 0; each < 5; each += 1) await caller.deduct(7n, saleId, SOLD);
    });
    const verifying = Array.from({ length: 10 }, () => verifyFunds(harness, caller.tenant));
    await Promise.all([...writing, ...verifying]);
    await using locker = await openSession(harness.databaseUrl);
    await locker.query(
      'begin; select from funds.account for update; select from funds.installment for update',
    );
    expect(await verifyFunds(harness, caller.tenant)).toBe(1);
  });
});

test('every invariant has a counter from the start, so that its first difference is an increase', async () => {
  const { values } = await metrics.getSingleMetric('payments_funds_differences_total')!.get();
  const invariants = Object.keys(FundsInvariant).filter((name) => /^[A-Z_]+$/.test(name));
  expect(values.map(({ labels }) => labels.invariant).sort()).toEqual(
    invariants.filter((name) => name !== 'UNSPECIFIED').sort(),
  );
});

/** Verifies all accounts. */
async function verifyAll() {
  const first = await funds.client.verifyFunds({});
  const all = { verified: first.verifiedAccounts, differences: first.differences, failures: first.failures };
  for (let { next } = first; next; ) {
    const more = await funds.client.verifyFunds({ after: next });
    all.verified += more.verifiedAccounts;
    all.differences.push(...more.differences);
    all.failures.push(...more.failures);
    next = more.next;
  }
  return all;
}

async function failuresCounted(cause: string): Promise<number> {
  const { values } = await metrics.getSingleMetric('payments_funds_verification_failures_total')!.get();
  return values.find(({ labels }) => labels.cause === cause)!.value;
}

async function differencesCounted(invariant: string): Promise<number> {
  const { values } = await metrics.getSingleMetric('payments_funds_differences_total')!.get();
  return values.find(({ labels }) => labels.invariant === invariant)!.value;
}

async function lastEnd(): Promise<number> {
  const { values } = await metrics
    .getSingleMetric('payments_funds_verification_end_timestamp_seconds')!
    .get();
  return values[0]!.value;
}
