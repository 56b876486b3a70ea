import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ProviderOutcome,
  RefundCaseStatus as Status,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { verifyFunds } from '../services/funds/verify-funds.ts';
import { queryHarness } from '../services/refunds/refund-case-fixture.ts';
import { startHarness, type TestHarness } from '../support/harness.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../support/temporal.ts';
import { createTestNamespace, testWorkflowBundle } from '../support/temporal-namespace.ts';
import { eventually, merchantOf, type RefundMerchant } from '../workflows/refunds/refund-harness.ts';
import { type ChildProgram, startProgram } from './child-program.ts';

const { SUCCEEDED, FAILED } = ProviderOutcome;
const START_MS = 60_000;
/** Leases and activities that died with their process come again after half a minute. */
const RECOVERY_MS = 120_000;

/** Services and Temporal that outlive the doomed; the worker is in the doomed process alone. */
let harness: TestHarness;
let temporal: TestNamespace;
beforeAll(async () => {
  [harness, temporal] = await Promise.all([startHarness(), createTestNamespace()]);
}, TEMPORAL_START_MS);
afterAll(async () => {
  await harness?.close();
  await temporal?.[Symbol.asyncDispose]();
});

/** A process with services and a worker, which dies there, if anywhere. */
function startDoomed(dies = ''): ChildProgram {
  const key = () => `v1:${randomBytes(32).toString('base64')}`;
  return startProgram('test/journeys/doomed-process.ts', {
    ...{
      DIES: dies,
      DATABASE_URL: harness.databaseUrl,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      WORKFLOW_BUNDLE: testWorkflowBundle().codePath,
      LOG_LEVEL: 'error',
    },
    ...{ API_KEY_PEPPERS: key(), WEBHOOK_SECRET_KEYS: key(), CURSOR_KEYS: key() },
  });
}

interface Refund {
  readonly merchant: RefundMerchant;
  readonly id: string;
  readonly saleId: string;
}

/** A merchant who has earned 1000, all of it held for a case that is yet to be executed. */
async function prepare(amountMinor: bigint): Promise<Refund> {
  const merchant = merchantOf(harness);
  const saleId = await merchant.earn(1_000n);
  const id = await merchant.approved(amountMinor, saleId);
  return { merchant, id, saleId };
}

const held = ({ merchant }: Refund) =>
  eventually(async () => expect((await merchant.funds.balance()).blockedAmountMinor).toBe(1_000n), START_MS);

/** How often something was posted to the merchant's funds, and how much. */
const postings = ({ merchant }: Refund) =>
  queryHarness(
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

it('ends correctly with a single debit, wherever a process is killed', async () => {
  const executions = await Promise.all(EXECUTION.map(() => prepare(400n)));
  const tooLittle = await Promise.all(TOO_LITTLE.map(() => prepare(1_200n)));
  const waiting = await Promise.all(BALANCE_RETURNS.map(() => prepare(1_200n)));
  const returned = await Promise.all(RETURNED_LATE.map(() => prepare(400n)));
  await using first = startDoomed();
  await Promise.all([...executions, ...tooLittle, ...waiting, ...returned].map(held));
  await Promise.all([...waiting, ...returned].map(start));
  for (const { merchant, id } of waiting) await merchant.becomes(id, Status.FUNDING_REQUIRED);
  for (const { merchant, id } of returned) await merchant.becomes(id, Status.PROCESSING);
  expect(first.errors).toBe('');
  await first.kill();

  const dieAt = async (step: string, refund: Refund, setOff: (refund: Refund) => Promise<unknown>) => {
    const doomed = startDoomed(`${step} ${refund.merchant.tenant.merchantId}`);
    await setOff(refund);
    expect(await doomed.ended(START_MS), `killed ${step}`).toBe('SIGKILL');
  };
  for (const [n, step] of EXECUTION.entries()) await dieAt(step, executions[n]!, start);
  for (const [n, step] of TOO_LITTLE.entries()) {
    await dieAt(step, tooLittle[n]!, start);
    await earn(tooLittle[n]!);
  }
  for (const [n, step] of BALANCE_RETURNS.entries()) await dieAt(step, waiting[n]!, earn);
  for (const [n, step] of RETURNED_LATE.entries()) await dieAt(step, returned[n]!, giveUp);

  await using last = startDoomed();
  const isDebited = (minor: number) => (refund: Refund) =>
    eventually(async () => {
      expect(await refund.merchant.case(refund.id)).toMatchObject({ status: Status.PROCESSING });
      const debits = (await postings(refund)) as { kind: string; minor: number }[];
      expect(debits.map(({ kind, minor }) => [kind, minor])).toEqual([['REFUND_DEBIT', minor]]);
    }, RECOVERY_MS);
  await Promise.all(executions.map(isDebited(400)));
  await Promise.all([...tooLittle, ...waiting].map(isDebited(1_200)));
  const isGivenBack = (refund: Refund) =>
    eventually(async () => {
      expect(await postings(refund)).toEqual([
        { kind: 'REFUND_DEBIT', times: 1, minor: 400 },
        { kind: 'REFUND_REVERSAL', times: 1, minor: 400 },
      ]);
      const whole = { availableAmountMinor: 1_000n, blockedAmountMinor: 0n };
      expect(await refund.merchant.funds.balance()).toMatchObject(whole);
    }, RECOVERY_MS);
  await Promise.all(returned.map(isGivenBack));
  await verifyFunds(harness);
  const left = await queryHarness(harness, 'select refund_case_id from funds.pending_debit');
  expect(left).toEqual([]);
  expect(last.errors).toBe('');
}, 600_000);
