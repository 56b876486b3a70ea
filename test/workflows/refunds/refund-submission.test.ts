import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { RefundProviderService } from '../../../proto/gen/payments/providers/v1/providers_pb.js';
import {
  ProviderOutcome,
  RefundCaseService,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as refundExecution from '../../../services/contracts/refunds/refund-execution.contract.ts';
import { connectGrpc, type GrpcConnection } from '../../../services/platform/rpc/remote-transport.ts';
import { createRefundActivities } from '../../../workflows/refunds/refund.activities.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { startHarness, type TestHarness } from '../../support/harness.ts';
import { failing, hanging, startProvider, type TestProvider } from '../../support/provider-server.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { eventually, merchantOf, startRefundHarness } from './refund-harness.ts';

let provider: TestProvider;
let connection: GrpcConnection;
let running: Awaited<ReturnType<typeof startRefundHarness>>;
/** Without a worker. */
let apart: TestHarness;
beforeAll(async () => {
  provider = await startProvider();
  connection = connectGrpc(provider.url, provider.settings.REFUND_PROVIDER_TOKEN);
  [running, apart] = await Promise.all([
    startRefundHarness({ ...provider.settings, REFUND_EXECUTION: 'manual' }),
    startHarness({ SERVICES: 'refunds,funds', REFUND_EXECUTION: 'manual' }),
  ]);
}, TEMPORAL_START_MS);
afterAll(async () => {
  await running?.close();
  await apart?.close();
  connection?.close();
  await provider?.[Symbol.asyncDispose]();
});

const SUBMITTED_AT = timestampFromDate(new Date('2026-01-02T03:04:05.678Z'));

const accepted = (providerRefundId = 'pr_1', submissionStatus = 'queued') => ({
  result: {
    case: 'accepted' as const,
    value: { providerRefundId, submissionStatus, submittedAt: SUBMITTED_AT },
  },
});
const refused = (reason = 'the account is closed') => ({
  result: { case: 'refused' as const, value: { reason } },
});

/** A merchant with 15.00, and a refund of 10.00 that may be executed. */
async function approved() {
  const merchant = merchantOf(running.harness);
  await merchant.earn(1_500n);
  const id = await merchant.approved(1_000n);
  const { funds, tenant } = merchant;
  return {
    ...merchant,
    id,
    execution: {
      merchantId: tenant.merchantId,
      environment: 'live' as const,
      refundCaseId: id,
      execution: 1,
    },
    available: async () => (await funds.client.getBalance(tenant)).availableAmountMinor,
    isAccepted: () =>
      eventually(async () =>
        expect((await merchant.case(id)).provider).toMatchObject({
          refundId: 'pr_1',
          submissionStatus: 'queued',
          submittedAt: SUBMITTED_AT,
        }),
      ),
  };
}

describe('the submission of a refund', () => {
  it.concurrent('submits the refund to the provider once, and records the answer', async () => {
    const { id, start, isAccepted, case: caseOf, tenant, execution } = await approved();
    provider.refund(id, () => accepted());
    await start(id);
    await isAccepted();
    const refundCase = await caseOf(id);
    expect(refundCase.status).toBe(Status.PROCESSING);
    await runAgain(execution);
    expect(provider.callsOf(id)).toMatchObject([
      {
        ...tenant,
        refundCaseId: id,
        execution: 1,
        paymentIntentId: refundCase.paymentIntentId,
        amountMinor: 1_000n,
        currency: 'BRL',
        reference: expect.stringMatching(/^[A-Z0-9]{25}$/),
        requestedAt: refundCase.requestedAt,
      },
    ]);
  });

  it.concurrent('that is refused fails the refund and returns its debit', async () => {
    const { id, start, becomes, available, case: caseOf } = await approved();
    provider.refund(id, () => refused());
    await start(id);
    await becomes(id, Status.FAILED);
    expect((await caseOf(id)).provider?.submissionStatus).toBe('the account is closed');
    await eventually(async () => expect(await available()).toBe(1_500n));
    expect(provider.callsOf(id)).toHaveLength(1);
  });

  it.concurrent('is repeated after invalid answers, and after errors that are permanent elsewhere', async () => {
    const { id, start, isAccepted, available } = await approved();
    const invalid = [() => ({}), () => accepted('pr_\u0000')];
    provider.refund(id, failing(Code.InvalidArgument), ...invalid, () => accepted());
    await start(id);
    await isAccepted();
    expect(provider.callsOf(id)).toHaveLength(4);
    expect(await available()).toBe(500n);
  });

  it.concurrent('is repeated when the provider is silent until the deadline', async () => {
    const { id, start, isAccepted } = await approved();
    provider.refund(id, hanging, () => accepted());
    await start(id);
    await isAccepted();
    expect(provider.callsOf(id)).toHaveLength(2);
  });

  it.concurrent('is made by another run when the one that recorded the debit died before it', async () => {
    const { id, start, debit, isAccepted, funds, write } = await approved();
    provider.refund(id, failing(Code.Unavailable), () => accepted());
    await funds.client.debitForRefund({ ...write(), refundCaseId: id, amountMinor: 1_000n });
    await start(id);
    await debit(id);
    await isAccepted();
  });
});

describe('an outcome that arrives before the answer', () => {
  it.concurrent('stays, and the answer adds the id', async () => {
    const { id, start, record, becomes, available, case: caseOf } = await approved();
    provider.refund(id, async () => {
      await record(id, ProviderOutcome.SUCCEEDED);
      return accepted();
    });
    await start(id);
    await becomes(id, Status.SUCCEEDED);
    await eventually(async () => expect((await caseOf(id)).provider?.refundId).toBe('pr_1'));
    expect((await caseOf(id)).status).toBe(Status.SUCCEEDED);
    expect(await available()).toBe(500n);
  });

  it.concurrent('is not taken for a late return when the provider refuses afterwards', async () => {
    const { id, start, record, execution, available, case: caseOf } = await approved();
    provider.refund(id, async () => {
      await record(id, ProviderOutcome.SUCCEEDED);
      return refused();
    });
    await start(id);
    expect(await endOf(execution)).toBe('PROCESSING');
    expect((await caseOf(id)).status).toBe(Status.SUCCEEDED);
    expect(await available()).toBe(500n);
  });

  it.concurrent('keeps the refund from being submitted again', async () => {
    const { id, start, record, becomes, execution } = await approved();
    provider.refund(id, async () => {
      await record(id, ProviderOutcome.FAILED);
      return failing(Code.Unavailable)();
    });
    await start(id);
    await becomes(id, Status.FAILED);
    await endOf(execution);
    expect(provider.callsOf(id)).toHaveLength(1);
  });
});

it('records the first of two different answers to attempts that overlap', async () => {
  const { id, submit, state } = await processingApart();
  const { promise, resolve } = Promise.withResolvers<void>();
  provider.refund(
    id,
    async () => {
      await promise;
      return refused();
    },
    () => accepted(),
  );
  const paused = submit();
  await eventually(async () => expect(provider.callsOf(id)).toHaveLength(1));
  expect(await submit()).toBe('ACCEPTED');
  resolve();
  expect(await paused).toBe('NOT_DUE');
  expect(await state()).toMatchObject({ status: Status.PROCESSING, provider: { refundId: 'pr_1' } });
  expect(await submit()).toBe('NOT_DUE');
  expect(provider.callsOf(id)).toHaveLength(2);
});

it('submits nothing without a provider', async () => {
  const { id, submitWithoutProvider, state } = await processingApart();
  expect(await submitWithoutProvider()).toBe('NO_PROVIDER');
  expect(provider.callsOf(id)).toEqual([]);
  expect(await state()).toMatchObject({ status: Status.PROCESSING, provider: {} });
});

/** A PROCESSING refund that no worker submits. */
async function processingApart() {
  const merchant = merchantOf(apart);
  const { id } = await merchant.processing();
  const { inProcess } = apart.transports;
  const refunds = createClient(RefundCaseService, inProcess);
  const funds = createClient(FundsService, inProcess);
  const input = {
    merchantId: merchant.tenant.merchantId,
    environment: 'live' as const,
    refundCaseId: id,
    execution: 1,
  };
  const refundProvider = createClient(RefundProviderService, connection.transport);
  return {
    id,
    state: () => merchant.case(id),
    submit: () => createRefundActivities({ refunds, funds, refundProvider }).submitRefund(input),
    submitWithoutProvider: () => createRefundActivities({ refunds, funds }).submitRefund(input),
  };
}

const handleOf = ({ refundCaseId, execution }: refundExecution.ExecuteRefundInput) =>
  running.temporal.client.workflow.getHandle(refundExecution.workflowId(refundCaseId, execution));

/** The result of the execution, which the outbox starts. */
async function endOf(input: refundExecution.ExecuteRefundInput) {
  const handle = handleOf(input);
  await eventually(async () => void (await handle.describe()));
  return handle.result();
}

/** Runs the execution once more, as after a loss of Temporal's state. */
async function runAgain(input: refundExecution.ExecuteRefundInput) {
  await endOf(input);
  const workflowId = refundExecution.workflowId(input.refundCaseId, input.execution);
  const options = { taskQueue: TASK_QUEUE, workflowId, args: [input] };
  expect(await running.temporal.client.workflow.execute('executeRefund', options)).toBe('ENDED');
}
