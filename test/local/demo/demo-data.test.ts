import { randomUUID } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DataFolder } from '../../../local/data-folder.ts';
import { refundOutcomeOf } from '../../../local/demo/connector/demo-outcomes.ts';
import { topUpDemoRefunds } from '../../../local/demo/data/demo-refunds.ts';
import { DemoTenant, FULL_SIZE, SMALL_SIZE } from '../../../local/demo/data/demo-tenant.ts';
import { writeDemoTenant } from '../../../local/demo/demo-data.ts';
import { startProviderReports } from '../../../local/demo/demo-provider-reports.ts';
import { endCompletedWorkflows } from '../../../local/demo/demo-workflows.ts';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { FundsService, MovementKind } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { DAY_MS } from '../../../services/platform/durations.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { allItems } from '../../../services/platform/rpc/pages-of.ts';
import { type AreaCheckResult, workflowType } from '../../../workflows/area-check/area-check.contract.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { type GatewayHarness, startGateways } from '../../gateway/gateway-harness.ts';
import { describeDocumentedAnswers } from '../../gateway/openapi-answers.ts';
import { newKey, newTenant, type TestHarness } from '../../support/harness.ts';
import { startHarnessWorker } from '../../support/harness-worker.ts';
import { sqlOf } from '../../support/sql.ts';
import { createTestNamespace } from '../../support/temporal-namespace.ts';
import { makeFolder } from '../temporary-data-folder.ts';

const STATES = 9;

let gateways: GatewayHarness;
let harness: TestHarness;
let demo: Awaited<ReturnType<typeof writeDemoTenant>>;
const tenant = newTenant();
beforeAll(async () => {
  gateways = await startGateways({ REFUND_EXECUTION: 'automatic', RATE_LIMIT_LIVE: '100000' });
  ({ harness } = gateways);
  demo = await writeDemoTenant(harness.transports.inProcess, tenant, new Date(), SMALL_SIZE);
}, 300_000);
afterAll(() => gateways.close());

interface CaseRow {
  readonly status: string;
  readonly amount_minor: string;
  readonly updated_at: Date;
  readonly silent_ms: number;
}

const cases = () =>
  sqlOf<CaseRow>(
    harness,
    `select status, amount_minor, updated_at,
            extract(epoch from now() - coalesce(provider_reported_at, processing_started_at))::float8 * 1000 as silent_ms
       from refunds.refund_case order by id`,
  );

/** What users see of a case's progress. */
const visible = ({ status, updated_at }: CaseRow) => ({ status, updated_at });

// Of the smaller size, which has every state.
describeDocumentedAnswers(() => ({ gateways, demo }));

it('has cases in every state; those in PROCESSING have an amount for which the demo connector reports nothing', async () => {
  const rows = await cases();
  expect(new Set(rows.map(({ status }) => status)).size).toBe(STATES);
  const processing = rows.filter(({ status }) => status === 'PROCESSING');
  expect(processing.length).toBeGreaterThan(3);
  for (const { amount_minor } of processing)
    expect(refundOutcomeOf(BigInt(amount_minor))).toBe('STAYS_SILENT');
});

it('has refunds of sales that were paid when and as the sale says', async () => {
  const rows = await sqlOf<{ same_time: boolean | null; same_amount: boolean }>(
    harness,
    `select payment.paid_at = sale.captured_at as same_time, payment.paid_amount_minor = sale.gross_minor as same_amount
       from refunds.payment join funds.sale on sale.id = payment.sale_id`,
  );
  expect(rows.length).toBeGreaterThan(5);
  expect(new Set(rows.map((row) => JSON.stringify(row)))).toEqual(
    new Set(['{"same_time":true,"same_amount":true}']),
  );
});

it('debits refunds when their cases say so, and no balance of the statement is ever negative', async () => {
  const funds = createClient(FundsService, harness.transports.inProcess);
  const movements = await allItems(
    (page) => funds.listMovements({ ...tenant, ...page }),
    (page) => page.movements,
  );
  const started = await sqlOf<{ id: string; processing_started_at: Date }>(
    harness,
    'select id, processing_started_at from refunds.refund_case where processing_started_at is not null',
  );
  const debits = movements.filter(({ kind }) => kind === MovementKind.REFUND);
  expect(new Map(debits.map(({ sourceId, occurredAt }) => [sourceId, timestampMs(occurredAt!)]))).toEqual(
    new Map(started.map(({ id, processing_started_at }) => [id, processing_started_at.getTime()])),
  );
  for (const { balance } of movements) {
    const { availableAmountMinor, scheduledAmountMinor, blockedAmountMinor } = balance!;
    for (const amount of [availableAmountMinor, scheduledAmountMinor, blockedAmountMinor])
      expect(amount).toBeGreaterThanOrEqual(0n);
  }
});

it('has no silent refund after the provider has reported progress, which does not change the refunds', async () => {
  const before = await cases();
  const folder = makeFolder();
  const data = DataFolder.open(folder.path);
  const stop = await startProviderReports({
    folder: data,
    transport: harness.transports.inProcess,
    merchants: [tenant.merchantId],
    silentAfterMs: DAY_MS,
    logger: createLogger('fatal'),
  });
  stop();
  data.close();
  folder.remove();
  const after = await cases();
  expect(after.map(visible)).toEqual(before.map(visible));
  const silent = (rows: CaseRow[]) =>
    rows.filter(({ status, silent_ms }) => status === 'PROCESSING' && silent_ms > DAY_MS);
  expect(silent(before)).not.toEqual([]);
  expect(silent(after)).toEqual([]);
});

it('leaves few workflows to run, which change no refund, and its areas agree then', async () => {
  const before = await cases();
  await endCompletedWorkflows(harness.transports.inProcess);
  const remaining = () =>
    sqlOf<{ workflow_type: string }>(
      harness,
      `select workflow_type from platform.outbox_command
        where workflow_type in ('executeRefund', 'holdRefundFunds', 'reverseRefund', 'holdDisputedFunds')`,
    );
  const types = new Set((await remaining()).map(({ workflow_type }) => workflow_type));
  expect(types).toEqual(new Set(['reverseRefund', 'holdDisputedFunds']));
  const temporal = await createTestNamespace();
  const worker = await startHarnessWorker(harness, temporal);
  await vi.waitFor(async () => expect(await remaining()).toEqual([]), 400_000);
  expect((await cases()).map(visible)).toEqual(before.map(visible));
  const options = { taskQueue: TASK_QUEUE, args: [{ recheckAfterMs: 1 }] };
  const check = (): Promise<AreaCheckResult> =>
    temporal.client.workflow.execute(workflowType, { ...options, workflowId: randomUUID() });
  await vi.waitFor(async () => expect(await check()).toMatchObject({ differences: [], failed: [] }), 30_000);
  await worker.close();
  await temporal[Symbol.asyncDispose]();
}, 450_000);

it('gets new cases in states that have none left', async () => {
  await sqlOf(harness, "update refunds.refund_case set status = 'CANCELED' where status = 'MERCHANT_REVIEW'");
  const gone = "update refunds.refund_case set status = 'FAILED' where status in ('PROCESSING', 'SUCCEEDED')";
  await sqlOf(harness, gone);
  const { merchantId, environment } = tenant;
  const demo = () => new DemoTenant(harness.transports.inProcess, { merchantId, environment }, new Date());
  await topUpDemoRefunds(demo);
  const rows = await cases();
  const count = (state: string) => rows.filter(({ status }) => status === state).length;
  expect(['MERCHANT_REVIEW', 'PROCESSING', 'SUCCEEDED'].map(count)).toEqual([1, 1, 1]);
  await topUpDemoRefunds(demo);
  expect((await cases()).map(visible)).toEqual(rows.map(visible));
});

it('has no payout that the provider still has to accept', async () => {
  const advances = createClient(AdvanceService, harness.transports.inProcess);
  expect((await advances.listProviderQueue(tenant)).items).toEqual([]);
  const pending = await sqlOf(
    harness,
    'select id from advances.request where released_at is not null and payout_accepted_at is null',
  );
  expect(pending).toEqual([]);
});

it('can have the full size, which npm start writes by default', async () => {
  const large = newTenant();
  await writeDemoTenant(harness.transports.inProcess, large, new Date(), FULL_SIZE);
  const [counts] = await sqlOf(
    harness,
    `select (select count(*)::int from refunds.refund_case where merchant_id = $1) as cases,
            (select count(*)::int from funds.sale where merchant_id = $1) as sales,
            (select count(*)::int from advances.request where merchant_id = $1) as advances`,
    [large.merchantId],
  );
  const { refundCases, sales, pastAdvances, openAdvances } = FULL_SIZE;
  expect(counts).toEqual({ cases: refundCases, sales, advances: pastAdvances + openAdvances });
  // A merchant can still try an advance.
  const advances = createClient(AdvanceService, harness.transports.inProcess);
  await advances.quoteAdvance({ ...large, idempotencyKey: newKey() });
}, 300_000);
