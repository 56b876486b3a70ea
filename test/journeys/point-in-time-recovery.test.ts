import { setTimeout as delay } from 'node:timers/promises';
import { Code, createClient } from '@connectrpc/connect';
import { afterAll, expect, it } from 'vitest';
import { newKeyRings } from '../../local/generated-secrets.ts';
import {
  MerchantDecisionKind,
  ProviderOutcome,
  RefundCaseService,
  RefundCaseStatus,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryService,
  DeliveryStatus,
  EventService,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as areaCheck from '../../workflows/area-check/area-check.contract.ts';
import { TASK_QUEUE } from '../../workflows/temporal/task-queue.ts';
import { verifyFunds } from '../services/funds/verification/verify-funds.ts';
import { newWrite, startHarness, type TestHarness } from '../support/harness.ts';
import { startHarnessWorker } from '../support/harness-worker.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { failing, startProvider } from '../support/provider-server.ts';
import { sqlOf } from '../support/sql.ts';
import { startTemporal, type TestTemporal } from '../support/temporal.ts';
import { startReceiver } from '../support/tls-receiver.ts';
import { merchantOf, type RefundMerchant } from '../workflows/refunds/refund-harness.ts';
import { ArchivedPostgres } from './recovery/archived-postgres.ts';
import { SandboxMerchant } from './sandbox-merchant.ts';

const { SUCCEEDED, RETRYING } = DeliveryStatus;
const SOON = { timeout: 60_000, interval: 200 };
const ACCEPTED = { refundId: 'pr_1', submissionStatus: 'queued' };
const accept = () => ({
  result: {
    case: 'accepted' as const,
    value: { providerRefundId: ACCEPTED.refundId, submissionStatus: ACCEPTED.submissionStatus },
  },
});

/** As docs/operations/backup-and-restore.md says, before workers start on a Temporal that has kept its state. */
const START_WORKFLOWS_NOW = `update platform.outbox_command set due_at = now() where kind = 'START'`;

/** The state of Temporal after the restore. */
const TEMPORAL_STATES = [
  {
    state: 'newer than the database',
    async prepare(_: TestTemporal, restored: TestHarness) {
      await sqlOf(restored, START_WORKFLOWS_NOW);
    },
    booksAgain: false,
  },
  {
    state: 'empty',
    async prepare(temporal: TestTemporal) {
      await temporal.kill();
      await temporal.loseState();
      await temporal.start();
    },
    booksAgain: true,
  },
];

/** Refunds that only the provider knows are booked with these settings. */
const WITHOUT_PROVIDER = {
  REFUND_EXECUTION: 'manual',
  REFUND_PROVIDER_URL: 'none',
  REFUND_PROVIDER_TOKEN: '',
};

const expectSubmitted = (merchant: RefundMerchant, id: string) =>
  expect.poll(async () => (await merchant.case(id)).provider, SOON).toMatchObject(ACCEPTED);

const approve = ({ refunds, write }: RefundMerchant, refundCaseId: string) =>
  refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.APPROVED });

/** The past of all tests, which is played once: each goes back to the same moment. */
let past: ReturnType<typeof playPast> | undefined;
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

/** Starts services and a worker, on the database that a URL names. */
async function startOn(
  temporal: TestTemporal,
  url: string,
  settings: Record<string, string>,
  before?: (harness: TestHarness) => Promise<void>,
) {
  const harness = await startHarness(settings, undefined, url);
  await before?.(harness);
  harness.services.startWebhookLanes();
  const worker = await startHarnessWorker(harness, temporal, { hasSchedules: true });
  let closing: Promise<void> | undefined;
  const close = async () => {
    await worker.close();
    await harness.close();
  };
  return {
    harness,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Events and refunds in every state at a moment, and what happens after it, until the database is lost. */
async function playPast() {
  const postgres = stack.use(await ArchivedPostgres.start());
  const temporal = stack.use(await startTemporal({ durable: false }));
  const provider = stack.use(await startProvider());
  let endpointAnswers = 204;
  const receiver = stack.use(
    await startReceiver((_, response) => {
      response.writeHead(endpointAnswers).end();
    }),
  );
  const settings = {
    ...loopbackSettings(),
    ...provider.settings,
    ...newKeyRings(),
    REFUND_EXECUTION: 'automatic',
    WEBHOOK_SCHEDULE_SANDBOX: `0s${',1s'.repeat(60)}`,
  };
  const original = await startOn(temporal, postgres.url, settings);
  stack.defer(original.close);

  const shop = await SandboxMerchant.subscribe(original.harness.transports.grpc, receiver);
  await shop.becomes(WebhookSubscriptionState.ACTIVE);
  const refunds = merchantOf(original.harness);
  const saleId = await refunds.earn(1_000n);
  const refund = async (amountMinor: bigint, answer: typeof accept) => {
    const id = await refunds.approved(amountMinor, saleId);
    provider.refund(id, answer);
    return id;
  };

  const delivered = await shop.publish();
  await shop.delivery(delivered, SUCCEEDED);
  const ended = await refund(100n, accept);
  await expectSubmitted(refunds, ended);
  await refunds.record(ended, ProviderOutcome.SUCCEEDED);
  const [duringBackup] = await Promise.all([shop.publish(), postgres.takeBaseBackup()]);
  await shop.delivery(duringBackup, SUCCEEDED);
  // In progress at the restored moment.
  const submitted = await refund(200n, accept);
  await expectSubmitted(refunds, submitted);
  const unsubmitted = await refund(300n, failing(Code.Unavailable));
  await expect.poll(() => provider.callsOf(unsubmitted).length, SOON).toBeGreaterThan(0);
  const unfunded = merchantOf(original.harness);
  const { id: undecided } = await unfunded.open({ amountMinor: 70n });
  endpointAnswers = 503;
  const undelivered = await shop.publish();
  await shop.delivery(undelivered, RETRYING);
  const moment = await postgres.now();
  await delay(50);

  // Lost by the restore.
  endpointAnswers = 204;
  await shop.delivery(undelivered, SUCCEEDED);
  const lostEvent = await shop.publish();
  await shop.delivery(lostEvent, SUCCEEDED);
  await refunds.record(submitted, ProviderOutcome.SUCCEEDED);
  provider.refund(unsubmitted, accept);
  await expectSubmitted(refunds, unsubmitted);
  provider.refund(undecided, accept);
  await approve(unfunded, undecided);
  await unfunded.becomes(undecided, RefundCaseStatus.FUNDING_REQUIRED);
  await unfunded.earn(100n);
  await expectSubmitted(unfunded, undecided);
  expect(provider.callsOf(undecided)).toMatchObject([{ execution: 2 }]);
  await unfunded.record(undecided, ProviderOutcome.SUCCEEDED);
  endpointAnswers = 503;
  const lostUndelivered = await shop.publish();
  await shop.delivery(lostUndelivered, RETRYING);
  const lostRefund = await refund(50n, accept);
  await expectSubmitted(refunds, lostRefund);
  await original.close();
  endpointAnswers = 204;
  await postgres.lose();

  const ids = { delivered, duringBackup, undelivered, lostEvent };
  const caseIds = { ended, submitted, unsubmitted, undecided, lostRefund };
  const tenants = { refunds: refunds.tenant, unfunded: unfunded.tenant };
  return { postgres, temporal, provider, settings, shop, saleId, moment, ...ids, ...caseIds, tenants };
}

it.each(TEMPORAL_STATES)(
  'after a restore to a moment, with a Temporal whose state is $state, every event and refund of that moment is completed',
  async ({ prepare, booksAgain }) => {
    past ??= playPast();
    const { postgres, temporal, provider, settings, shop, saleId, moment, tenants } = await past;
    const { delivered, duringBackup, undelivered, lostEvent } = await past;
    const { ended, submitted, unsubmitted, undecided, lostRefund } = await past;
    const timesReceived = (id: string) => shop.arrivals.filter((arrival) => arrival.id === id).length;
    const attempts = timesReceived(undelivered);
    const callsBefore = provider.callsOf(undecided);
    await using stack = new AsyncDisposableStack();
    const { url } = stack.use(await postgres.restore(moment));
    const restored = await startOn(temporal, url, settings, (harness) => prepare(temporal, harness));
    stack.defer(restored.close);
    const transport = restored.harness.transports.inProcess;
    const cases = createClient(RefundCaseService, transport);
    const caseOf = async (refundCaseId: string) =>
      (await cases.getRefundCase({ ...tenants.refunds, refundCaseId })).refundCase!;
    const statusOf = async (id: string) => RefundCaseStatus[(await caseOf(id)).status];

    // Events: only deliveries that were not recorded as delivered are sent again, under the same id.
    await expect.poll(() => timesReceived(undelivered), SOON).toBe(attempts + 1);
    const deliveries = createClient(DeliveryService, transport);
    const statusesOf = async (eventId: string) =>
      (await deliveries.listDeliveries({ ...shop.tenant, eventId })).deliveries.map(
        ({ status }) => DeliveryStatus[status],
      );
    await expect.poll(() => statusesOf(undelivered), SOON).toEqual(['SUCCEEDED']);
    for (const id of [delivered, duringBackup]) {
      expect(await statusesOf(id)).toEqual(['SUCCEEDED']);
      expect(timesReceived(id)).toBe(1);
    }
    expect(timesReceived(lostEvent)).toBe(1);
    const { events } = await createClient(EventService, transport).listEvents({ ...shop.tenant });
    expect(events.map(({ id }) => id)).not.toContain(lostEvent);

    // Refunds: what had been decided is submitted under its id, and the provider's outcome is recorded once more.
    expect(await statusOf(ended)).toBe('SUCCEEDED');
    await expect.poll(async () => (await caseOf(unsubmitted)).provider, SOON).toMatchObject(ACCEPTED);
    const references = (id: string) => new Set(provider.callsOf(id).map(({ reference }) => reference)).size;
    for (const id of [ended, submitted, unsubmitted]) expect(references(id)).toBe(1);
    expect(await statusOf(submitted)).toBe('PROCESSING');
    for (const refundCaseId of [submitted, unsubmitted]) {
      const outcome = ProviderOutcome.SUCCEEDED;
      await cases.recordProviderOutcome({ ...newWrite(tenants.refunds), refundCaseId, outcome });
      expect(await statusOf(refundCaseId)).toBe('SUCCEEDED');
    }
    // The balance covers another refund before it is decided again, so the number of its execution differs.
    const funded = merchantOf(restored.harness, tenants.unfunded);
    await funded.becomes(undecided, RefundCaseStatus.MERCHANT_REVIEW);
    await funded.earn(100n);
    await approve(funded, undecided);
    await expectSubmitted(funded, undecided);
    expect(provider.callsOf(undecided)).toMatchObject([...callsBefore, { execution: 1 }]);
    expect(references(undecided)).toBe(1);
    await funded.record(undecided, ProviderOutcome.SUCCEEDED);
    await funded.becomes(undecided, RefundCaseStatus.SUCCEEDED);
    // The provider knows a refund that the database does not: the comparison with its list finds it.
    expect(references(lostRefund)).toBe(1);
    await expect(statusOf(lostRefund)).rejects.toMatchObject({ code: Code.NotFound });

    await expect.poll(() => unfinishedOf(restored.harness), SOON).toEqual([]);
    // Workflows of lost records have stopped calling the services; the one of a delivery ends two minutes later.
    await expect.poll(() => workingOf(temporal), SOON).toEqual([]);
    expect(await verifyFunds(restored.harness)).toBeGreaterThan(0);
    await areasAgree(temporal);

    // It is booked again, and not submitted again. The state of Temporal makes no difference, so one test is enough.
    if (!booksAgain) return;
    await restored.close();
    const booking = await startOn(temporal, url, { ...settings, ...WITHOUT_PROVIDER });
    stack.defer(booking.close);
    const again = merchantOf(booking.harness, tenants.refunds);
    const booked = await again.approved(50n, saleId);
    await again.start(booked);
    await again.becomes(booked, RefundCaseStatus.PROCESSING);
    await again.record(booked, ProviderOutcome.SUCCEEDED);
    await again.becomes(booked, RefundCaseStatus.SUCCEEDED);
    expect(provider.callsOf(booked)).toEqual([]);
    expect(await again.funds.balance()).toMatchObject({ availableAmountMinor: 350n, blockedAmountMinor: 0n });
  },
  600_000,
);

async function unfinishedOf(harness: TestHarness): Promise<string[]> {
  const rows = await sqlOf<{ workflow_id: string }>(
    harness,
    'select workflow_id from platform.outbox_command',
  );
  return rows.map(({ workflow_id }) => workflow_id);
}

/** The workflows that have an activity to do. */
async function workingOf({ client }: TestTemporal): Promise<string[]> {
  const ids: string[] = [];
  const query = 'ExecutionStatus = "Running" and TemporalScheduledById is null';
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const { raw, status } = await client.workflow.getHandle(workflowId, runId).describe();
    const isWorking = raw.pendingActivities?.length || raw.pendingWorkflowTask;
    if (status.name === 'RUNNING' && isWorking) ids.push(workflowId);
  }
  return ids;
}

async function areasAgree({ client }: TestTemporal): Promise<void> {
  const options = {
    taskQueue: TASK_QUEUE,
    workflowId: 'area-check-after-restore',
    args: [{ recheckAfterMs: 1 }],
  };
  const result = await client.workflow.execute(areaCheck.workflowType, options);
  expect(result).toMatchObject({ candidates: 0, differences: [], failed: [] });
}
