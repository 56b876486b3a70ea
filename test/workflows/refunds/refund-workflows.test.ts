import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FundsService, SaleMethod } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  MerchantDecisionKind,
  ProviderOutcome,
  RefundCaseService,
  RefundInitiator,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as reversal from '../../../services/contracts/refunds/refund-reversal.contract.ts';
import { createRefundActivities } from '../../../workflows/refunds/refund.activities.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { refundsOf } from '../../services/refunds/refund-case-fixture.ts';
import { startActivityWorker } from '../../support/activity-worker.ts';
import { ago } from '../../support/ago.ts';
import { startHarness, type TestHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../../support/temporal.ts';
import { createTestNamespace } from '../../support/temporal-namespace.ts';

const REVIEW_PERIOD_MS = 3_600_000;

let harness: TestHarness;
let temporal: TestNamespace;
let worker: Awaited<ReturnType<typeof startActivityWorker>>;

beforeAll(async () => {
  [harness, temporal] = await Promise.all([
    startHarness({ SERVICES: 'refunds,funds', MERCHANT_REVIEW_PERIOD: '1h', REFUND_DEADLINE_NOTICE: '3s' }),
    createTestNamespace(),
  ]);
  const { inProcess } = harness.transports;
  const activities = createRefundActivities({
    refunds: createClient(RefundCaseService, inProcess),
    funds: createClient(FundsService, inProcess),
  });
  worker = await startActivityWorker(temporal, activities);
}, TEMPORAL_START_MS);
afterAll(async () => {
  await worker.close();
  await temporal[Symbol.asyncDispose]();
  await harness.close();
});

/** A merchant with its calls, and its balance in funds. */
function merchantOf() {
  const merchant = refundsOf(harness);
  const funds = createClient(FundsService, harness.transports.inProcess);
  const { tenant, write } = merchant;
  return {
    ...merchant,
    funds,
    /** An instant transfer, released at once. */
    sell: (grossAmountMinor: bigint) =>
      funds.recordSale({
        ...write(),
        saleId: randomUUID(),
        method: SaleMethod.INSTANT_TRANSFER,
        grossAmountMinor,
        feesAmountMinor: 0n,
        installments: 1,
      }),
    available: async () => (await funds.getBalance(tenant)).availableAmountMinor,
    statusOf: async (refundCaseId: string) =>
      (await merchant.refunds.getRefundCase({ ...tenant, refundCaseId })).refundCase!.status,
    approved: async () => (await merchant.open({ initiator: RefundInitiator.MERCHANT })).id,
  };
}

/** Starts the workflow that the services' last START command about the case asks for, as the dispatcher would. */
async function startCommanded(refundCaseId: string) {
  const [command] = await sqlOf<{ workflow_id: string; workflow_type: string; arguments: unknown[] }>(
    harness,
    `select workflow_id, workflow_type, arguments from platform.outbox_command
      where kind = 'START' and arguments->0->>'refundCaseId' = $1 order by id desc limit 1`,
    [refundCaseId],
  );
  const { workflow_id: workflowId, workflow_type: workflowType, arguments: args } = command!;
  return temporal.client.workflow.start(workflowType, { taskQueue: TASK_QUEUE, workflowId, args });
}

const runCommanded = async (refundCaseId: string) => (await startCommanded(refundCaseId)).result();

describe('the reversal of a refund', () => {
  it('returns nothing of a refund that has not failed, even if it is run by hand', async () => {
    const { tenant, sell, approved, start, available } = merchantOf();
    await sell(1_500n);
    const id = await approved();
    await start(id);
    await runCommanded(id);
    const input = { merchantId: tenant.merchantId, environment: 'live', refundCaseId: id };
    const options = { taskQueue: TASK_QUEUE, workflowId: reversal.workflowId(id), args: [input] };
    const ended = await temporal.client.workflow
      .execute(reversal.workflowType, options)
      .catch((error: WorkflowFailedError) => (error.cause?.cause as ApplicationFailure | undefined)?.type);
    expect(ended).toBe('REFUND_CASE_STATE');
    expect(await available()).toBe(500n);
  });

  it('fails with the reason when there is nothing to return', async () => {
    const { refunds, write, processing } = merchantOf();
    const { id } = await processing();
    await refunds.recordProviderOutcome({ ...write(), refundCaseId: id, outcome: ProviderOutcome.FAILED });
    const failure = await runCommanded(id).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    const cause = (failure as WorkflowFailedError).cause?.cause;
    expect(cause).toBeInstanceOf(ApplicationFailure);
    expect((cause as ApplicationFailure).type).toBe('REFUND_DEBIT_NOT_FOUND');
  });
});

describe("the wait for a merchant's review", () => {
  /** A case with a deadline at this distance. */
  const due = ({ open }: ReturnType<typeof merchantOf>, inMs: number) =>
    open({ occurredAt: ago(REVIEW_PERIOD_MS - inMs) });

  /** When the deadline was announced: milliseconds before it. */
  const announcements = (id: string) =>
    sqlOf<{ left_ms: number }>(
      harness,
      `select extract(epoch from (body::json->'data'->>'merchantReviewDeadlineAt')::timestamptz - occurred_at)::float * 1000 as left_ms
         from webhooks.event where object_id = $1 and type = 'refund.deadline_approaching.v1'`,
      [id],
    );

  it('ends with the deadline, which sends the case to the service review', async () => {
    const merchant = merchantOf();
    const { id } = await due(merchant, 1_500);
    const handle = await startCommanded(id);
    expect(await merchant.statusOf(id)).toBe(Status.MERCHANT_REVIEW);
    expect(await handle.result()).toBe('EXPIRED');
    expect(await merchant.statusOf(id)).toBe(Status.SERVICE_REVIEW);
  });

  it('announces the deadline some time before it, once, however often it runs', async () => {
    const { id } = await due(merchantOf(), 8_000);
    const handle = await startCommanded(id);
    await vi.waitFor(async () => expect(await announcements(id)).toHaveLength(1), { timeout: 40_000 });
    const [{ left_ms: leftMs }] = (await announcements(id)) as [{ left_ms: number }];
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(3_000);
    expect(await handle.result()).toBe('EXPIRED');
    expect(await runCommanded(id)).toBe('ENDED');
    expect(await announcements(id)).toHaveLength(1);
  });

  it('announces nothing about a case that has left the review in the meantime', async () => {
    const merchant = merchantOf();
    const { refunds, write } = merchant;
    const { id: refundCaseId } = await due(merchant, 5_000);
    const handle = await startCommanded(refundCaseId);
    await refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.CONTESTED });
    expect(await handle.result()).toBe('ENDED');
    expect(await announcements(refundCaseId)).toEqual([]);
  });

  it('does not change a case that the merchant has decided meanwhile', async () => {
    const merchant = merchantOf();
    const { refunds, write, statusOf } = merchant;
    const { id: refundCaseId } = await due(merchant, 1_500);
    const handle = await startCommanded(refundCaseId);
    await vi.waitFor(async () => {
      const { events } = await handle.fetchHistory();
      expect(events?.some((event) => event.timerStartedEventAttributes)).toBe(true);
    }, 40_000);
    await refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.APPROVED });
    expect(await handle.result()).toBe('ENDED');
    expect(await statusOf(refundCaseId)).toBe(Status.APPROVED_FOR_EXECUTION);
  });

  it('ends when it is canceled', async () => {
    const merchant = merchantOf();
    const { id } = await due(merchant, REVIEW_PERIOD_MS / 2);
    const handle = await startCommanded(id);
    await handle.cancel();
    const failure = await handle.result().catch((error: unknown) => error);
    expect((failure as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
  });
});
