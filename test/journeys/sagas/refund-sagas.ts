import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect } from 'vitest';
import {
  ProviderOutcome,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { sqlOf } from '../../support/harness-sql.ts';
import { merchantOf } from '../../workflows/refunds/refund-harness.ts';
import { recovers, type Saga, type SagaWorld } from './saga.ts';

const { SUCCEEDED, FAILED } = ProviderOutcome;

export const REVIEW_PERIOD_MS = 3_600_000;
/** How long before its deadline a reviewed case is opened. */
const REVIEW_MS = 3_000;

/** A merchant who has earned 1,000 by one sale, and the steps of its one refund or dispute. */
export async function earner({ harness, provider }: SagaWorld) {
  const merchant = merchantOf(harness);
  const { refunds, write, record, funds, tenant } = merchant;
  const saleId = await merchant.earn(1_000n);
  const becomes = (id: string, status: Status) =>
    recovers(async () => expect(Status[(await merchant.case(id)).status]).toBe(Status[status]));
  const has = (availableAmountMinor: bigint, blockedAmountMinor: bigint) =>
    recovers(async () =>
      expect(await funds.balance()).toMatchObject({ availableAmountMinor, blockedAmountMinor }),
    );
  return {
    ...merchant,
    merchantId: tenant.merchantId,
    saleId,
    becomes,
    has,
    /** A refund that may be executed; the provider accepts it. */
    async approve(amountMinor: bigint) {
      const id = await merchant.approved(amountMinor, saleId);
      const value = { providerRefundId: 'pr_1', submissionStatus: 'queued' };
      provider.refund(id, () => ({ result: { case: 'accepted', value } }));
      return id;
    },
    isSubmitted: (id: string) =>
      recovers(async () => {
        const { status, provider: answer } = await merchant.case(id);
        expect([Status[status], answer?.refundId]).toEqual(['PROCESSING', 'pr_1']);
      }),
    /** Passes when no workflow of the merchant is to end any more. */
    isIdle: () =>
      recovers(async () => {
        const commands = 'select workflow_id from platform.outbox_command where merchant_id = $1';
        expect(await sqlOf(harness, commands, [tenant.merchantId])).toEqual([]);
      }),
    async succeed(id: string) {
      await record(id, SUCCEEDED);
      await becomes(id, Status.SUCCEEDED);
    },
    cancel: (refundCaseId: string) => refunds.cancelRefundCase({ ...write(), refundCaseId }),
  };
}

/** A refund of the amount whose hold is there, and which may be executed. */
async function held(world: SagaWorld, amountMinor: bigint) {
  const merchant = await earner(world);
  const id = await merchant.approve(amountMinor);
  const heldMinor = amountMinor < 1_000n ? amountMinor : 1_000n;
  await merchant.has(1_000n - heldMinor, heldMinor);
  await merchant.isIdle();
  return { merchant, id, run: { merchantId: merchant.merchantId, submitted: [id] } };
}

const execution: Saga = {
  name: 'the execution of a refund',
  steps: [
    'before BeginRefundExecution',
    'within BeginRefundExecution',
    'after BeginRefundExecution',
    'before DebitForRefund',
    'within DebitForRefund',
    'after DebitForRefund',
    'before RecordRefundDebit',
    'within RecordRefundDebit',
    'after RecordRefundDebit',
    'before RecordProviderOutcome',
    'within RecordProviderOutcome',
    'after RecordProviderOutcome',
    'before EndStarts',
    'after EndStarts',
    'after ClaimCommands',
    'before ConfirmCommands',
  ],
  async prepare(world) {
    const { merchant, id, run } = await held(world, 400n);
    return {
      ...run,
      setOff: () => merchant.start(id),
      isDone: () => merchant.isSubmitted(id),
      async end() {
        await merchant.succeed(id);
        await merchant.has(600n, 0n);
      },
    };
  },
};

const refusedExecution: Saga = {
  name: 'a refund that the provider refuses',
  steps: ['before RecordProviderOutcome', 'after RecordProviderOutcome', 'before ReverseRefundDebit'],
  async prepare(world) {
    const { merchant, id, run } = await held(world, 400n);
    world.provider.refund(id, () => ({ result: { case: 'refused', value: { reason: 'closed' } } }));
    return {
      ...run,
      setOff: () => merchant.start(id),
      async isDone() {
        await merchant.becomes(id, Status.FAILED);
        await merchant.has(1_000n, 0n);
      },
    };
  },
};

const hold: Saga = {
  name: 'the hold of a refund',
  steps: ['before BlockFunds', 'within BlockFunds', 'after BlockFunds', 'before EndStarts'],
  async prepare(world) {
    const merchant = await earner(world);
    let id = '';
    return {
      merchantId: merchant.merchantId,
      async setOff() {
        id = await merchant.approve(400n);
      },
      isDone: () => merchant.has(600n, 400n),
      async end() {
        await merchant.cancel(id);
        await merchant.has(1_000n, 0n);
      },
    };
  },
};

const holdEnd: Saga = {
  name: 'the end of a hold',
  steps: [
    'before EndRefundExecutions',
    'within EndRefundExecutions',
    'after EndRefundExecutions',
    'before UnblockFunds',
    'within UnblockFunds',
    'after UnblockFunds',
  ],
  async prepare(world) {
    const { merchant, id, run } = await held(world, 400n);
    return { ...run, setOff: () => merchant.cancel(id), isDone: () => merchant.has(1_000n, 0n) };
  },
};

const wait: Saga = {
  name: 'a refund that the balance does not cover',
  steps: ['before AwaitFunding', 'within AwaitFunding', 'after AwaitFunding', 'within RecordRefundDebit'],
  async prepare(world) {
    const { merchant, id, run } = await held(world, 1_200n);
    return {
      ...run,
      setOff: () => merchant.start(id),
      isDone: () => merchant.becomes(id, Status.FUNDING_REQUIRED),
      async end() {
        await merchant.earn(500n);
        await merchant.isSubmitted(id);
        await merchant.succeed(id);
        await merchant.has(300n, 0n);
      },
    };
  },
};

const canceledWait: Saga = {
  name: 'a refund that is canceled while it waits for the balance, which then comes',
  steps: ['before DebitForRefund', 'before AwaitFunding', 'before RecordRefundDebit'],
  async prepare(world) {
    const { merchant, id, run } = await held(world, 1_200n);
    return {
      ...run,
      setOff: () => merchant.start(id),
      isDone: () => merchant.becomes(id, Status.FUNDING_REQUIRED),
      async end() {
        await merchant.cancel(id);
        await merchant.has(1_000n, 0n);
        await merchant.isIdle();
        await merchant.earn(500n);
        await merchant.has(1_500n, 0n);
      },
    };
  },
};

const fundsBack: Saga = {
  name: 'a waiting refund whose balance comes',
  steps: [
    'before FindCoveredRefund',
    'after FindCoveredRefund',
    'before StartRefund',
    'within StartRefund',
    'after StartRefund',
    'within DebitForRefund',
    'after DebitForRefund',
  ],
  async prepare(world) {
    const { merchant, id, run } = await held(world, 1_200n);
    await merchant.start(id);
    await merchant.becomes(id, Status.FUNDING_REQUIRED);
    return {
      ...run,
      setOff: () => merchant.earn(500n),
      isDone: () => merchant.isSubmitted(id),
      async end() {
        await merchant.succeed(id);
        await merchant.has(300n, 0n);
      },
    };
  },
};

const lateReturn: Saga = {
  name: 'a refund that the provider returns late',
  steps: ['before ReverseRefundDebit', 'within ReverseRefundDebit', 'after ReverseRefundDebit'],
  async prepare(world) {
    const { merchant, id, run } = await held(world, 400n);
    await merchant.start(id);
    await merchant.isSubmitted(id);
    await merchant.succeed(id);
    // A debit that is reversed while its hold is open is held once more.
    await merchant.isIdle();
    return {
      ...run,
      setOff: () => merchant.record(id, FAILED),
      async isDone() {
        await merchant.becomes(id, Status.FAILED);
        await merchant.has(1_000n, 0n);
      },
    };
  },
};

const review: Saga = {
  name: "the deadline of a merchant's review",
  steps: [
    'before AnnounceReviewDeadline',
    'within AnnounceReviewDeadline',
    'after AnnounceReviewDeadline',
    'before ExpireMerchantReview',
    'within ExpireMerchantReview',
    'after ExpireMerchantReview',
  ],
  async prepare(world) {
    const merchant = await earner(world);
    let id = '';
    return {
      merchantId: merchant.merchantId,
      async setOff() {
        const occurredAt = timestampFromDate(new Date(Date.now() - REVIEW_PERIOD_MS + REVIEW_MS));
        id = (await merchant.open({ occurredAt, amountMinor: 400n })).id;
      },
      isDone: () => merchant.becomes(id, Status.SERVICE_REVIEW),
      async end() {
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
  fundsBack,
  lateReturn,
  review,
];
