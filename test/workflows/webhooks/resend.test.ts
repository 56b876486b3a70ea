import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createRouterTransport } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WorkflowCommandService } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import {
  DeliveryService,
  DispatchService,
  type ResendSchema,
  ResendState,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { workflowId, workflowType } from '../../../services/contracts/webhooks/resend-deliveries.contract.ts';
import { notFound } from '../../../services/platform/errors.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { toConnectError } from '../../../services/platform/rpc/connect-errors.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { type PaymentsWorker, startWorker } from '../../../workflows/worker.ts';
import { testConfig } from '../../support/harness.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { recordHistories } from '../../support/recorded-histories.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../../support/temporal.ts';
import { createTestNamespace, testWorkflowBundle } from '../../support/temporal-namespace.ts';

const { RUNNING, COMPLETED, CANCELED } = ResendState;

/** What the service would answer of a resend; those that have been asked of and canceled. */
interface MemoryResend {
  readonly id: string;
  /** Turns until it has completed. */
  turns: number;
  asked: number;
  canceled: boolean;
  /** Asks that are refused as by a service that is away. */
  away: number;
}

const resends = new Map<string, MemoryResend>();
const transport = createRouterTransport(({ service }) => {
  service(WorkflowCommandService, {
    claimCommands: async ({ waitMs }, { signal }) => nothing(waitMs, signal),
    resendStarts: () => ({}),
  });
  service(DispatchService, {
    claimBatch: async ({ waitMs }, { signal }) => nothing(waitMs, signal),
    continueResend: ({ resendId }) => {
      const resend = resends.get(resendId);
      if (!resend) throw toConnectError(notFound('RESEND_NOT_FOUND', 'there is no such resend'));
      resend.asked += 1;
      if (resend.asked <= resend.away) throw new ConnectError('the service is away', Code.Unavailable);
      return { resend: answerOf(resend), more: resend.asked < resend.turns };
    },
  });
  service(DeliveryService, {
    cancelResend: ({ resendId }) => {
      resends.get(resendId)!.canceled = true;
      return {};
    },
  });
});

async function nothing(waitMs: number, signal: AbortSignal) {
  await delay(waitMs, undefined, { signal }).catch(() => undefined);
  return {};
}

function answerOf({ id, asked, turns, canceled }: MemoryResend): MessageInitShape<typeof ResendSchema> {
  const ended = asked >= turns ? COMPLETED : RUNNING;
  const made = BigInt(Math.min(asked, turns - 1) * 10);
  return {
    ...{ id, state: canceled ? CANCELED : ended, createdAt: timestampNow(), expectedCount: 30n },
    ...{ madeCount: made, openCount: 0n, succeededCount: made },
  };
}

const logger = createLogger('fatal');
let temporal: TestNamespace;
let worker: PaymentsWorker;

beforeAll(async () => {
  temporal = await createTestNamespace();
  const config = testConfig({ ...loopbackSettings(), TEMPORAL_NAMESPACE: temporal.namespace });
  worker = await startWorker({
    ...{ config, logger, transport, workflowBundle: testWorkflowBundle() },
    temporalAddress: temporal.address,
  });
}, TEMPORAL_START_MS);

afterAll(async () => {
  const { RECORD_HISTORIES } = process.env;
  if (RECORD_HISTORIES) await recordHistories(temporal.client, RECORD_HISTORIES);
  await worker?.close();
  await temporal?.[Symbol.asyncDispose]();
});

async function start({
  turns = 2,
  away = 0,
  subscriptionId,
}: Partial<MemoryResend> & { subscriptionId?: string }) {
  const id = randomUUID();
  const resend: MemoryResend = { id, turns, asked: 0, canceled: false, away };
  resends.set(id, resend);
  return { resend, handle: await startWorkflow(id, subscriptionId) };
}

function startWorkflow(resendId: string, subscriptionId?: string) {
  const input = {
    ...{ resendId, merchantId: randomUUID(), environment: 'test' },
    ...(subscriptionId && { subscriptionId }),
  };
  const options = { taskQueue: TASK_QUEUE, workflowId: workflowId(resendId), args: [input] };
  return temporal.client.workflow.start(workflowType, options);
}

type Handle = Awaited<ReturnType<typeof startWorkflow>>;
const lastFailureOf = async (handle: Handle) =>
  (await handle.describe()).raw.pendingActivities?.[0]?.lastFailure?.message;

describe('the resend workflow', () => {
  it('goes on turn by turn until it has ended, without growing its history by them', async () => {
    const [few, many] = await Promise.all([start({ turns: 2 }), start({ turns: 6 })]);
    const counts = { exhausted: 0, canceled: 0 };
    expect(await few.handle.result()).toEqual({ state: 'COMPLETED', made: 10, succeeded: 10, ...counts });
    expect(await many.handle.result()).toEqual({ state: 'COMPLETED', made: 50, succeeded: 50, ...counts });
    expect([few.resend.asked, many.resend.asked]).toEqual([2, 6]);
    const [short, long] = await Promise.all([few.handle.describe(), many.handle.describe()]);
    expect(long.historyLength).toBe(short.historyLength);
  });

  it('says how far it is, and is found by its subscription', async () => {
    const subscriptionId = randomUUID();
    const { handle } = await start({ turns: 1_000, subscriptionId });
    await vi.waitFor(
      async () => {
        expect(await lastFailureOf(handle)).toMatch(/^\d+ of 30 deliveries created: \d+ succeeded, 0 open/);
        const ids: string[] = [];
        const query = `SubscriptionIds = '${subscriptionId}'`;
        for await (const found of temporal.client.workflow.list({ query })) ids.push(found.workflowId);
        expect(ids).toEqual([handle.workflowId]);
      },
      { timeout: 40_000, interval: 50 },
    );
    await handle.terminate();
  });

  it('goes on when the services come back', async () => {
    const { resend, handle } = await start({ turns: 4, away: 2 });
    expect(await handle.result()).toMatchObject({ state: 'COMPLETED' });
    expect(resend.asked).toBe(4);
  });

  it('cancels the resend when it is canceled, and ends as canceled', async () => {
    const { resend, handle } = await start({ turns: 1_000 });
    await vi.waitFor(() => expect(resend.asked).toBeGreaterThan(1), { timeout: 40_000 });
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect((await handle.describe()).status.name).toBe('CANCELLED');
    expect(resend.canceled).toBe(true);
    const { asked } = resend;
    await delay(2_000);
    expect(resend.asked).toBe(asked);
  });

  it('ends as canceled too when it sees the cancellation of the resend before its own', async () => {
    const { resend, handle } = await start({ turns: 1_000 });
    resend.canceled = true;
    await delay(1_500);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  });

  it('fails for a resend that there is not', async () => {
    const handle = await startWorkflow(randomUUID());
    await expect(handle.result()).rejects.toMatchObject({ cause: { cause: { type: 'RESEND_NOT_FOUND' } } });
  });
});
