import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import {
  type ProviderOutcome,
  RefundInitiator,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { fundsCaller } from '../../services/funds/funds-caller.ts';
import { verifyFunds } from '../../services/funds/verification/verify-funds.ts';
import { refundsOf } from '../../services/refunds/refund-case-fixture.ts';
import { startHarness, type TestHarness, type TestTenant } from '../../support/harness.ts';
import { type HarnessWorkerOptions, startHarnessWorker } from '../../support/harness-worker.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { createTestNamespace } from '../../support/temporal-namespace.ts';

/** Services, Temporal and the worker with its relay, which executes the commands of writes. */
export async function startRefundHarness(
  settings: Record<string, string> = {},
  options?: HarnessWorkerOptions,
) {
  const [harness, temporal] = await Promise.all([startHarness(settings), createTestNamespace()]);
  const worker = await startHarnessWorker(harness, temporal, options);
  return {
    harness,
    temporal,
    /** How a workflow ended, by its id. */
    resultOf: (workflowId: string) => temporal.client.workflow.getHandle(workflowId).result(),
    /** Runs a workflow again, like a command that arrives late or twice. */
    again: (type: string, workflowId: string, input: object) =>
      temporal.client.workflow.execute(type, { taskQueue: TASK_QUEUE, workflowId, args: [input] }),
    async close() {
      await worker.close();
      await harness.close();
      await temporal[Symbol.asyncDispose]();
    },
  };
}

/** The harness of all tests of a file, at whose end the funds are verified. */
export function sharedRefundHarness(settings?: Record<string, string>) {
  let fixture: Awaited<ReturnType<typeof startRefundHarness>>;
  beforeAll(async () => {
    fixture = await startRefundHarness(settings);
  }, TEMPORAL_START_MS);
  afterAll(async () => {
    await verifyFunds(fixture.harness);
    await fixture.close();
  });
  return () => fixture;
}

/** Waits until something holds. */
export const eventually = (check: () => Promise<void>, timeout = 90_000) =>
  vi.waitFor(check, { timeout, interval: 100 });

/** A merchant's refunds and funds beside each other. Default: of a new merchant. */
export function merchantOf(harness: TestHarness, of?: TestTenant) {
  const refunds = refundsOf(harness, 'inProcess', of);
  const funds = fundsCaller(harness.transports.inProcess, refunds.tenant);
  const { tenant, write } = refunds;
  const caseOf = async (refundCaseId: string) =>
    (await refunds.refunds.getRefundCase({ ...tenant, refundCaseId })).refundCase!;
  return {
    ...refunds,
    funds,
    case: caseOf,
    /** An instant transfer of today, released at once. */
    earn: async (gross: bigint) => (await funds.sell({ gross, instant: true })).saleId,
    /** A case that may be executed at once. */
    approved: async (amountMinor: bigint, saleId?: string) => {
      const opening = {
        initiator: RefundInitiator.MERCHANT,
        amountMinor,
        paidAmountMinor: amountMinor,
        saleId,
      };
      return (await refunds.open(opening)).id;
    },
    record: (refundCaseId: string, ...outcomes: ProviderOutcome[]) =>
      outcomes.reduce<Promise<unknown>>(async (before, outcome) => {
        await before;
        return refunds.refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome });
      }, Promise.resolve()),
    dispute: async (paymentIntentId: string, saleId?: string, amountMinor?: bigint) => {
      const disputeId = randomUUID();
      const dispute = { disputeId, paymentIntentId, saleId, amountMinor };
      await refunds.refunds.openDispute({ ...write(), ...dispute });
      return disputeId;
    },
    becomes: (refundCaseId: string, status: Status) =>
      eventually(async () => expect(Status[(await caseOf(refundCaseId)).status]).toBe(Status[status])),
    /** The reasons that hold each of the merchant's rows, what is left of it and its status; by date. */
    rows: async () => {
      const { releases } = await funds.client.listFundsReleases({ ...tenant, pageSize: 100 });
      return releases.map((row) => ({
        left: row.blockedAmountMinor + row.releasedAmountMinor + row.scheduledAmountMinor,
        ...(row.blockedReasons.length > 0 && { held: row.blockedReasons }),
        ...(row.releasedAmountMinor > 0n && { released: true }),
      }));
    },
  };
}

export type RefundMerchant = ReturnType<typeof merchantOf>;
