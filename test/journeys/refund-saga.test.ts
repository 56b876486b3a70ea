import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  ProviderOutcome,
  RefundCaseStatus as Status,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { verifyFunds } from '../services/funds/verify-funds.ts';
import { startHarness, type TestHarness } from '../support/harness.ts';
import { sqlOf } from '../support/harness-sql.ts';
import { createTestNamespace, testWorkflowBundle } from '../support/temporal-namespace.ts';
import { eventually, merchantOf, type RefundMerchant } from '../workflows/refunds/refund-harness.ts';
import { type ChildProgram, startProgram } from './child-program.ts';

const { SUCCEEDED, FAILED } = ProviderOutcome;
const START_MS = 60_000;
/** Leases and activities that died with their process come again after half a minute. */
const RECOVERY_MS = 120_000;

/** Services and Temporal that outlive the killed processes, which alone have a worker. */
interface System extends AsyncDisposable {
  readonly harness: TestHarness;
  /** A process with services and a worker, which is killed at the step, if any. */
  startDoomed(step?: string): ChildProgram;
}

async function startSystem(): Promise<System> {
  const [harness, temporal] = await Promise.all([startHarness(), createTestNamespace()]);
  const key = () => `v1:${randomBytes(32).toString('base64')}`;
  return {
    harness,
    startDoomed: (step = '') =>
      startProgram('test/journeys/doomed-process.ts', {
        DIES: step,
        DATABASE_URL: harness.databaseUrl,
        TEMPORAL_ADDRESS: temporal.address,
        TEMPORAL_NAMESPACE: temporal.namespace,
        WORKFLOW_BUNDLE: testWorkflowBundle().codePath,
        LOG_LEVEL: 'error',
        API_KEY_PEPPERS: key(),
        WEBHOOK_SECRET_KEYS: key(),
        CURSOR_KEYS: key(),
      }),
    async [Symbol.asyncDispose]() {
      await harness.close();
      await temporal[Symbol.asyncDispose]();
    },
  };
}

interface Refund {
  readonly merchant: RefundMerchant;
  readonly id: string;
  readonly amountMinor: bigint;
}

/** A merchant who has earned 1000, held as far as needed for a case that is yet to be executed. */
async function prepare({ harness }: System, amountMinor: bigint): Promise<Refund> {
  const merchant = merchantOf(harness);
  const saleId = await merchant.earn(1_000n);
  const id = await merchant.approved(amountMinor, saleId);
  return { merchant, id, amountMinor };
}

const held = ({ merchant, amountMinor }: Refund) =>
  eventually(async () => {
    const blockedAmountMinor = amountMinor < 1_000n ? amountMinor : 1_000n;
    expect(await merchant.funds.balance()).toMatchObject({ blockedAmountMinor });
  }, START_MS);

/** How often something was posted to the merchant's funds, and how much. */
const postings = ({ harness }: System, { merchant }: Refund) =>
  sqlOf(
    harness,
    `select kind, count(*)::int as times, sum(amount_minor)::int as minor from funds.posting
      where merchant_id = $1 group by kind order by kind`,
    [merchant.tenant.merchantId],
  );

const { start, earn, giveUp } = {
  start: ({ merchant, id }: Refund) => merchant.start(id),
  earn: ({ merchant }: Refund) => merchant.earn(500n),
  giveUp: ({ merchant, id }: Refund) => merchant.record(id, SUCCEEDED, FAILED),
};

/** Where a process dies, and what sets off the step: each with a refund of its own. */
const EXECUTION = [
  'after ClaimCommands',
  'before ConfirmCommands',
  'within BlockFunds',
  'after BlockFunds',
  'before DebitForRefund',
  'within DebitForRefund',
  'after DebitForRefund',
  'within RecordRefundDebit',
  'after RecordRefundDebit',
];
const TOO_LITTLE = ['within AwaitFunding', 'after AwaitFunding', 'within RecordRefundDebit'];
const BALANCE_RETURNS = ['after FindCoveredRefund', 'within StartRefund', 'after StartRefund'];
const RETURNED_LATE = [
  'within ReverseRefundDebit',
  'after ReverseRefundDebit',
  'within UnblockFunds',
  'after UnblockFunds',
];

/** Starts a process that is killed at the step, which `setOff` brings about. */
async function killAt(
  { startDoomed }: System,
  step: string,
  refund: Refund,
  setOff: (refund: Refund) => Promise<unknown>,
): Promise<void> {
  const doomed = startDoomed(`${step} ${refund.merchant.tenant.merchantId}`);
  await setOff(refund);
  expect(await doomed.ended(START_MS), `killed ${step}`).toBe('SIGKILL');
}

const isDebited = (system: System, minor: number) => (refund: Refund) =>
  eventually(async () => {
    expect(await refund.merchant.case(refund.id)).toMatchObject({ status: Status.PROCESSING });
    const debits = (await postings(system, refund)) as { kind: string; minor: number }[];
    expect(debits.map(({ kind, minor }) => [kind, minor])).toEqual([['REFUND_DEBIT', minor]]);
  }, RECOVERY_MS);

/** Runs the interrupted work to its end on a new process, and verifies the books. */
async function recover({ harness, startDoomed }: System, check: () => Promise<unknown>): Promise<void> {
  await using last = startDoomed();
  await check();
  await verifyFunds(harness);
  expect(await sqlOf(harness, 'select refund_case_id from funds.pending_debit')).toEqual([]);
  expect(last.errors).toBe('');
}

describe.concurrent('wherever a process is killed', { timeout: 600_000 }, () => {
  it('an execution ends with a single debit', async () => {
    await using system = await startSystem();
    const refunds = await Promise.all(EXECUTION.map(() => prepare(system, 400n)));
    await using first = system.startDoomed();
    await Promise.all(refunds.map(held));
    expect(first.errors).toBe('');
    await first.kill();
    for (const [n, step] of EXECUTION.entries()) await killAt(system, step, refunds[n]!, start);
    await recover(system, () => Promise.all(refunds.map(isDebited(system, 400))));
  });

  it('a refund that waits for the balance is debited once', async () => {
    await using system = await startSystem();
    const tooLittle = await Promise.all(TOO_LITTLE.map(() => prepare(system, 1_200n)));
    const waiting = await Promise.all(BALANCE_RETURNS.map(() => prepare(system, 1_200n)));
    await using first = system.startDoomed();
    await Promise.all([...tooLittle, ...waiting].map(held));
    await Promise.all(waiting.map(start));
    for (const { merchant, id } of waiting) await merchant.becomes(id, Status.FUNDING_REQUIRED);
    expect(first.errors).toBe('');
    await first.kill();
    for (const [n, step] of TOO_LITTLE.entries()) {
      await killAt(system, step, tooLittle[n]!, start);
      await earn(tooLittle[n]!);
    }
    for (const [n, step] of BALANCE_RETURNS.entries()) await killAt(system, step, waiting[n]!, earn);
    await recover(system, () => Promise.all([...tooLittle, ...waiting].map(isDebited(system, 1_200))));
  });

  it('a refund that the provider returns is reversed once', async () => {
    await using system = await startSystem();
    const refunds = await Promise.all(RETURNED_LATE.map(() => prepare(system, 400n)));
    await using first = system.startDoomed();
    await Promise.all(refunds.map(held));
    await Promise.all(refunds.map(start));
    for (const { merchant, id } of refunds) await merchant.becomes(id, Status.PROCESSING);
    expect(first.errors).toBe('');
    await first.kill();
    for (const [n, step] of RETURNED_LATE.entries()) await killAt(system, step, refunds[n]!, giveUp);
    const isReversed = (refund: Refund) =>
      eventually(async () => {
        expect(await postings(system, refund)).toEqual([
          { kind: 'REFUND_DEBIT', times: 1, minor: 400 },
          { kind: 'REFUND_REVERSAL', times: 1, minor: 400 },
        ]);
        const whole = { availableAmountMinor: 1_000n, blockedAmountMinor: 0n };
        expect(await refund.merchant.funds.balance()).toMatchObject(whole);
      }, RECOVERY_MS);
    await recover(system, () => Promise.all(refunds.map(isReversed)));
  });
});
