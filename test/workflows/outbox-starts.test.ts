import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  MerchantDecisionKind,
  RefundCaseStatus as Status,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { ago } from '../support/ago.ts';
import { scrape } from '../support/scrape.ts';
import { sqlOf } from '../support/sql.ts';
import { TEMPORAL_START_MS } from '../support/temporal.ts';
import { eventually, merchantOf, startRefundHarness } from './refunds/refund-harness.ts';

/** A START has its effect even if its workflow is lost: tested with the merchant's review. */

const REVIEW_MS = 3_600_000;

let fixture: Awaited<ReturnType<typeof startRefundHarness>>;
beforeAll(async () => {
  fixture = await startRefundHarness({ MERCHANT_REVIEW_PERIOD: '1h', REFUND_EXECUTION: 'automatic' });
}, TEMPORAL_START_MS);
afterAll(() => fixture.close(), 60_000);

const startsOf = (refundCaseId: string) =>
  sqlOf<{ workflow_id: string; starts: number }>(
    fixture.harness,
    `select workflow_id, starts from platform.outbox_command
      where kind = 'START' and arguments->0->>'refundCaseId' = $1`,
    [refundCaseId],
  );
const checkNow = (refundCaseId: string) =>
  sqlOf(
    fixture.harness,
    "update platform.outbox_command set due_at = now() where arguments->0->>'refundCaseId' = $1",
    [refundCaseId],
  );

/** A case with a deadline at this distance. */
const due = ({ open }: ReturnType<typeof merchantOf>, inMs: number) =>
  open({ occurredAt: ago(REVIEW_MS - inMs) });

const workflowFailures = async () => (await scrape())('payments_workflow_failures_total')!;
const workflow = (id: string) => fixture.temporal.client.workflow.getHandle(id);
const waitUntilStarted = (refundCaseId: string) =>
  eventually(async () => expect(await startsOf(refundCaseId)).toMatchObject([{ starts: 1 }]));
const waitUntilTimer = (workflowId: string) =>
  eventually(async () => {
    const { events } = await workflow(workflowId).fetchHistory();
    expect(events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes)).toBe(true);
  });

describe('a START stays until its workflow has completed its work', () => {
  it('and is then gone', async () => {
    const merchant = merchantOf(fixture.harness);
    const { id } = await due(merchant, 3_000);
    await waitUntilStarted(id);
    await merchant.becomes(id, Status.SERVICE_REVIEW);
    await eventually(async () => expect(await startsOf(id)).toEqual([]));
  });

  it('so that a terminated workflow is started again', async () => {
    const merchant = merchantOf(fixture.harness);
    const { id } = await due(merchant, 8_000);
    await waitUntilStarted(id);
    await workflow(`merchant-review-${id}`).terminate();
    await checkNow(id);
    await merchant.becomes(id, Status.SERVICE_REVIEW);
    await eventually(async () => expect(await startsOf(id)).toEqual([]));
  });

  it('and does not start it twice', async () => {
    const merchant = merchantOf(fixture.harness);
    const { id } = await due(merchant, REVIEW_MS / 2);
    await waitUntilStarted(id);
    const { runId } = await workflow(`merchant-review-${id}`).describe();
    await checkNow(id);
    await eventually(async () => expect(await startsOf(id)).toMatchObject([{ starts: 2 }]));
    expect(await workflow(`merchant-review-${id}`).describe()).toMatchObject({ runId });
  });

  it('unless it is no longer needed', async () => {
    const merchant = merchantOf(fixture.harness);
    const { refunds, write } = merchant;
    const { id: refundCaseId } = await due(merchant, REVIEW_MS / 2);
    await waitUntilStarted(refundCaseId);
    // If the decision came before the workflow has read the case, the workflow would complete.
    await waitUntilTimer(`merchant-review-${refundCaseId}`);
    await refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.CONTESTED });
    expect(await startsOf(refundCaseId)).toEqual([]);
    await expect(workflow(`merchant-review-${refundCaseId}`).result()).rejects.toThrow();
  });

  it('or the service has refused a step, which an operator can then put right', async () => {
    const merchant = merchantOf(fixture.harness);
    const { refunds, write } = merchant;
    // Another amount was debited for the case before, by hand.
    const saleId = await merchant.earn(1_000n);
    const { id: refundCaseId } = await merchant.open({ saleId, amountMinor: 400n });
    const debit = { ...write(), refundCaseId, amountMinor: 100n };
    await merchant.funds.client.debitForRefund(debit);
    const executeRefund = workflow(`refund-${refundCaseId}`);
    const failuresBefore = await workflowFailures();
    await refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.APPROVED });
    await expect.poll(() => executeRefund.result().catch(() => 'failed'), { timeout: 30_000 }).toBe('failed');
    await expect.poll(workflowFailures).toBeGreaterThan(failuresBefore);
    await sqlOf(
      fixture.harness,
      'update funds.refund_debit set amount_minor = 400 where refund_case_id = $1',
      [refundCaseId],
    );
    await checkNow(refundCaseId);
    await merchant.becomes(refundCaseId, Status.PROCESSING);
  });
});

describe('a command', () => {
  const insert = (kind: string, workflowId: string, type: string | null = null) =>
    sqlOf(
      fixture.harness,
      `insert into platform.outbox_command
         (merchant_id, environment, id, kind, workflow_id, workflow_type, signal_name, arguments, request_id)
       values (gen_random_uuid(), 'test', uuidv7(), $1, $2, $3, case $1 when 'SIGNAL' then 'retryNow' end, '[{}]', $2)`,
      [kind, workflowId, type],
    );
  const kept = () =>
    sqlOf<{ kind: string; workflow_id: string }>(
      fixture.harness,
      `select kind, workflow_id from platform.outbox_command where workflow_id like 'nobody%'`,
    );

  it('to a workflow that does not exist is done, and one that Temporal refuses is kept and stops no other', async () => {
    const refusals = async () =>
      (await scrape())('payments_workflow_command_errors_total{kind="HAND_OVER"}')!;
    const before = await refusals();
    const tooLong = `nobody-${'x'.repeat(2_000)}`;
    await insert('START', tooLong, 'endRefundHold');
    await insert('SIGNAL', 'nobody-1');
    await insert('CANCEL', 'nobody-2');
    await eventually(async () => expect(await kept()).toEqual([{ kind: 'START', workflow_id: tooLong }]));
    await eventually(async () => expect(await refusals()).toBeGreaterThan(before));
  });

  it('starts a workflow that is found by the request that caused it', async () => {
    const requestId = `request-${crypto.randomUUID()}`;
    await insert('START', requestId, 'endRefundHold');
    await eventually(async () => {
      expect(await (await workflow(requestId).describe()).staticSummary()).toBe(
        `caused by request ${requestId}`,
      );
      expect((await fixture.temporal.client.workflow.count(`RequestIds = '${requestId}'`)).count).toBe(1);
    });
  });
});
