import { expect } from 'vitest';
import {
  ProviderOutcome,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { ago } from '../../support/ago.ts';
import { sqlOf } from '../../support/sql.ts';
import { merchantOf } from '../../workflows/refunds/refund-harness.ts';
import { around, eventually, type Saga, type SagaWorld } from './saga.ts';

const { SUCCEEDED, FAILED } = ProviderOutcome;

export const REVIEW_PERIOD_MS = 3_600_000;
/** The time left for the review when its case is opened. */
const REVIEW_MS = 3_000;

/** A merchant with one sale of 1,000, and the calls of its one refund or dispute. */
export async function merchantWithSale({ harness, provider }: SagaWorld) {
  const merchant = merchantOf(harness);
  const { refunds, write, record, funds, tenant } = merchant;
  const saleId = await merchant.earn(1_000n);
  const waitForStatus = (id: string, status: Status) =>
    eventually(async () => expect(Status[(await merchant.case(id)).status]).toBe(Status[status]));
  const waitForBalance = (availableAmountMinor: bigint, blockedAmountMinor: bigint) =>
    eventually(async () =>
      expect(await funds.balance()).toMatchObject({ availableAmountMinor, blockedAmountMinor }),
    );
  return {
    ...merchant,
    merchantId: tenant.merchantId,
    saleId,
    waitForStatus,
    waitForBalance,
    /** Approves a refund that the provider will accept. */
    async approve(amountMinor: bigint) {
      const id = await merchant.approved(amountMinor, saleId);
      const value = { providerRefundId: 'pr_1', submissionStatus: 'queued' };
      provider.refund(id, () => ({ result: { case: 'accepted', value } }));
      return id;
    },
    waitUntilSubmitted: (id: string) =>
      eventually(async () => {
        const { status, provider: answer } = await merchant.case(id);
        expect([Status[status], answer?.refundId]).toEqual(['PROCESSING', 'pr_1']);
      }),
    /** Resolves when the merchant has no open workflow command. */
    waitUntilIdle: () =>
      eventually(async () => {
        const commands = 'select workflow_id from platform.outbox_command where merchant_id = $1';
        expect(await sqlOf(harness, commands, [tenant.merchantId])).toEqual([]);
      }),
    async succeed(id: string) {
      await record(id, SUCCEEDED);
      await waitForStatus(id, Status.SUCCEEDED);
    },
    cancel: (refundCaseId: string) => refunds.cancelRefundCase({ ...write(), refundCaseId }),
  };
}

/** An approved refund whose funds are on hold. */
async function heldRefund(world: SagaWorld, amountMinor: bigint) {
  const merchant = await merchantWithSale(world);
  const id = await merchant.approve(amountMinor);
  const heldMinor = amountMinor < 1_000n ? amountMinor : 1_000n;
  await merchant.waitForBalance(1_000n - heldMinor, heldMinor);
  await merchant.waitUntilIdle();
  return { merchant, id, run: { merchantId: merchant.merchantId, submitted: [id] } };
}

const execution: Saga = {
  name: 'the execution of a refund',
  steps: [
    ...around('BeginRefundExecution', 'DebitForRefund', 'RecordRefundDebit', 'RecordProviderOutcome'),
    'before EndStarts',
    'after EndStarts',
    'after ClaimCommands',
    'before ConfirmCommands',
  ],
  async prepare(world) {
    const { merchant, id, run } = await heldRefund(world, 400n);
    return {
      ...run,
      start: () => merchant.start(id),
      waitUntilDone: () => merchant.waitUntilSubmitted(id),
      async finish() {
        await merchant.succeed(id);
        await merchant.waitForBalance(600n, 0n);
      },
    };
  },
};

const refusedExecution: Saga = {
  name: 'a refund that the provider refuses',
  // The steps before the provider's answer are those of an accepted refund; the reversal is that of a late return.
  steps: ['after RecordProviderOutcome'],
  async prepare(world) {
    const { merchant, id, run } = await heldRefund(world, 400n);
    world.provider.refund(id, () => ({ result: { case: 'refused', value: { reason: 'closed' } } }));
    return {
      ...run,
      start: () => merchant.start(id),
      async waitUntilDone() {
        await merchant.waitForStatus(id, Status.FAILED);
        await merchant.waitForBalance(1_000n, 0n);
      },
    };
  },
};

const hold: Saga = {
  name: 'the hold of a refund',
  steps: around('BlockFunds'),
  async prepare(world) {
    const merchant = await merchantWithSale(world);
    let id = '';
    return {
      merchantId: merchant.merchantId,
      async start() {
        id = await merchant.approve(400n);
      },
      waitUntilDone: () => merchant.waitForBalance(600n, 400n),
      async finish() {
        await merchant.cancel(id);
        await merchant.waitForBalance(1_000n, 0n);
      },
    };
  },
};

const holdEnd: Saga = {
  name: 'the end of a hold',
  steps: around('EndRefundExecutions', 'UnblockFunds'),
  async prepare(world) {
    const { merchant, id, run } = await heldRefund(world, 400n);
    return {
      ...run,
      start: () => merchant.cancel(id),
      waitUntilDone: () => merchant.waitForBalance(1_000n, 0n),
    };
  },
};

const wait: Saga = {
  name: 'a refund that the balance does not cover',
  steps: around('AwaitFunding'),
  async prepare(world) {
    const { merchant, id, run } = await heldRefund(world, 1_200n);
    return {
      ...run,
      start: () => merchant.start(id),
      waitUntilDone: () => merchant.waitForStatus(id, Status.FUNDING_REQUIRED),
      async finish() {
        await merchant.earn(500n);
        await merchant.waitUntilSubmitted(id);
        await merchant.succeed(id);
        await merchant.waitForBalance(300n, 0n);
      },
    };
  },
};

const canceledWait: Saga = {
  name: 'a refund that is canceled before the balance covers it',
  steps: ['before DebitForRefund', 'before AwaitFunding', 'before RecordRefundDebit'],
  async prepare(world) {
    const { merchant, id, run } = await heldRefund(world, 1_200n);
    return {
      ...run,
      start: () => merchant.start(id),
      waitUntilDone: () => merchant.waitForStatus(id, Status.FUNDING_REQUIRED),
      async finish() {
        await merchant.cancel(id);
        await merchant.waitForBalance(1_000n, 0n);
        await merchant.waitUntilIdle();
        await merchant.earn(500n);
        await merchant.waitForBalance(1_500n, 0n);
      },
    };
  },
};

const coveredWait: Saga = {
  name: 'a waiting refund that the balance covers',
  steps: [
    'before FindCoveredRefund',
    'after FindCoveredRefund',
    ...around('StartRefund'),
    'after DebitForRefund',
  ],
  async prepare(world) {
    const { merchant, id, run } = await heldRefund(world, 1_200n);
    await merchant.start(id);
    await merchant.waitForStatus(id, Status.FUNDING_REQUIRED);
    return {
      ...run,
      start: () => merchant.earn(500n),
      waitUntilDone: () => merchant.waitUntilSubmitted(id),
      async finish() {
        await merchant.succeed(id);
        await merchant.waitForBalance(300n, 0n);
      },
    };
  },
};

const lateReturn: Saga = {
  name: 'a refund that the provider returns late',
  steps: around('ReverseRefundDebit'),
  async prepare(world) {
    const { merchant, id, run } = await heldRefund(world, 400n);
    await merchant.start(id);
    await merchant.waitUntilSubmitted(id);
    await merchant.succeed(id);
    // A debit that is reversed while its hold is open is held once more.
    await merchant.waitUntilIdle();
    return {
      ...run,
      start: () => merchant.record(id, FAILED),
      async waitUntilDone() {
        await merchant.waitForStatus(id, Status.FAILED);
        await merchant.waitForBalance(1_000n, 0n);
      },
    };
  },
};

const review: Saga = {
  name: "the deadline of a merchant's review",
  steps: around('AnnounceReviewDeadline', 'ExpireMerchantReview'),
  async prepare(world) {
    const merchant = await merchantWithSale(world);
    let id = '';
    return {
      merchantId: merchant.merchantId,
      async start() {
        const occurredAt = ago(REVIEW_PERIOD_MS - REVIEW_MS);
        id = (await merchant.open({ occurredAt, amountMinor: 400n })).id;
      },
      waitUntilDone: () => merchant.waitForStatus(id, Status.SERVICE_REVIEW),
      async finish() {
        await merchant.cancel(id);
      },
    };
  },
};

export const REFUND_SAGAS: readonly Saga[] = [
  execution,
  refusedExecution,
  hold,
  holdEnd,
  wait,
  canceledWait,
  coveredWait,
  lateReturn,
  review,
];
