import { type Client, Code, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AdvanceRequestStatus,
  AdvanceService,
  PayoutAnswer,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { PayoutProviderService } from '../../../proto/gen/payments/providers/v1/providers_pb.js';
import * as advancePayout from '../../../services/contracts/advances/advance-payout.contract.ts';
import type { AdvanceRequestKey } from '../../../services/contracts/advances/advance-request-key.ts';
import { connectGrpc, type GrpcConnection } from '../../../services/platform/rpc/remote-transport.ts';
import { createAdvanceActivities } from '../../../workflows/advances/advance.activities.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { advancesCaller } from '../../services/advances/advances-caller.ts';
import { failing, startProvider, type TestProvider } from '../../support/provider-server.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { eventually, startRefundHarness } from '../refunds/refund-harness.ts';

let provider: TestProvider;
let connection: GrpcConnection;
let running: Awaited<ReturnType<typeof startRefundHarness>>;
beforeAll(async () => {
  provider = await startProvider();
  connection = connectGrpc(provider.url, provider.settings.PAYOUT_PROVIDER_TOKEN);
  running = await startRefundHarness(provider.settings);
}, TEMPORAL_START_MS);
afterAll(async () => {
  await running?.close();
  connection?.close();
  await provider?.[Symbol.asyncDispose]();
});

const accepted = (providerPayoutId = 'po_1') => ({
  result: { case: 'accepted' as const, value: { providerPayoutId } },
});
const refused = () => ({ result: { case: 'refused' as const, value: { reason: 'no bank account' } } });

/** A request of 48.00 in the first of three installments that is approved. */
async function approved() {
  const caller = await advancesCaller(running.harness.transports.inProcess);
  const { id } = await caller.request((await caller.quote({ maxAmountMinor: 4_800n })).id);
  await caller.approve(id);
  const { merchantId } = caller.funds.tenant;
  const input: AdvanceRequestKey = { merchantId, environment: 'live', advanceRequestId: id };
  return {
    ...caller,
    id,
    input,
    payout: async () => (await caller.get(id)).payout,
    isAccepted: () =>
      eventually(async () => expect((await caller.get(id)).payout?.providerPayoutId).toBe('po_1')),
    /** The sum of what is advanced, in centavos. */
    advanced: async () =>
      (await caller.funds.rows()).reduce((sum, [, , , advanced]) => sum + BigInt(advanced!), 0n),
  };
}

/** An attempt beside those of the workflow. */
const submit = (input: AdvanceRequestKey) =>
  activitiesOf(createClient(PayoutProviderService, connection.transport)).submitPayout(input);

function activitiesOf(payoutProvider?: Client<typeof PayoutProviderService>) {
  const { inProcess } = running.harness.transports;
  const advances = createClient(AdvanceService, inProcess);
  return createAdvanceActivities({ advances, funds: createClient(FundsService, inProcess), payoutProvider });
}

describe('the payout of an advance', () => {
  it.concurrent('is submitted once it is released, and not before', async () => {
    const { id, release, isAccepted, funds, input, get } = await approved();
    provider.payout(id, () => accepted());
    expect(provider.callsOf(id)).toEqual([]);
    const { releasedAt, netAmountMinor } = await release(id);
    await isAccepted();
    const workflowId = advancePayout.workflowId(id);
    const again = { taskQueue: TASK_QUEUE, workflowId, args: [input] };
    const { workflow } = running.temporal.client;
    await workflow.getHandle(workflowId).result();
    expect(await workflow.execute(advancePayout.workflowType, again)).toBe('ACCEPTED');
    expect(provider.callsOf(id)).toMatchObject([
      {
        ...funds.tenant,
        advanceRequestId: id,
        amountMinor: netAmountMinor,
        currency: 'BRL',
        releasedAt,
        reference: expect.stringMatching(/^[A-Z0-9]{25}$/),
      },
    ]);
    expect(await get(id)).toMatchObject({ payout: { attempts: 1, lastAnswer: PayoutAnswer.ACCEPTED } });
  });

  it.concurrent('is submitted again after an error whose text cannot be stored', async () => {
    const { id, release, payout, input } = await approved();
    const before = 'the payout provider answered Unavailable: ';
    // The cut after 1,000 characters splits the last one.
    const text = `\0${'x'.repeat(998 - before.length)}😀`;
    provider.payout(id, failing(Code.Unavailable, text));
    await release(id);
    await expect(submit(input)).rejects.toMatchObject({ name: 'ProviderError' });
    const { lastAnswer, lastReason } = (await payout())!;
    expect(lastAnswer).toBe(PayoutAnswer.FAILED);
    expect(lastReason).toBe(`${before}\ufffd${text.slice(1, -2)}\ufffd`);
  });

  it.concurrent('is submitted again while it is refused or fails, and frees no installment meanwhile', async () => {
    const { id, release, isAccepted, payout, get, advanced } = await approved();
    const failure = failing(Code.InvalidArgument, 'unknown merchant');
    provider.payout(
      id,
      refused,
      failure,
      () => ({}),
      () => accepted(),
    );
    await release(id);
    const before = await advanced();
    expect(before).toBeGreaterThan(0n);
    await eventually(async () => expect(await payout()).toMatchObject({ lastReason: 'no bank account' }));
    await eventually(async () =>
      expect(await payout()).toMatchObject({
        lastAnswer: PayoutAnswer.FAILED,
        lastReason: 'the payout provider answered InvalidArgument: unknown merchant',
      }),
    );
    expect(await get(id)).toMatchObject({ status: AdvanceRequestStatus.RELEASED });
    expect(await advanced()).toBe(before);
    await isAccepted();
    expect(await payout()).toMatchObject({ attempts: 4, lastAnswer: PayoutAnswer.ACCEPTED });
  });

  it.concurrent('is listed as stuck after five calls that were not accepted, until one is', async () => {
    const { id, release, isAccepted, client, funds } = await approved();
    const stuck = async () => {
      const { items } = await client.listProviderQueue({ ...funds.tenant, stuckOnly: true });
      return items.map(({ advanceRequest }) => advanceRequest!.id);
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    const accept = () => promise.then(() => accepted());
    provider.payout(id, refused, refused, refused, refused, refused, accept);
    await release(id);
    await eventually(async () => expect(await stuck()).toEqual([id]), 60_000);
    resolve();
    await isAccepted();
    expect(await stuck()).toEqual([]);
  });

  it.concurrent('keeps the acceptance when a call that was made before it is refused', async () => {
    const { id, release, payout, input } = await approved();
    const { promise, resolve } = Promise.withResolvers<void>();
    provider.payout(
      id,
      () => promise.then(refused),
      () => accepted(),
    );
    await release(id);
    await eventually(async () => expect(provider.callsOf(id)).toHaveLength(1));
    expect(await submit(input)).toBe('ACCEPTED');
    resolve();
    await running.temporal.client.workflow.getHandle(advancePayout.workflowId(id)).result();
    expect(await payout()).toMatchObject({ attempts: 1, lastAnswer: PayoutAnswer.ACCEPTED });
  });

  it.concurrent('is not submitted again once the bank has returned it', async () => {
    const { id, release, isAccepted, payout, input, client, funds } = await approved();
    provider.payout(id, () => accepted());
    await release(id);
    await isAccepted();
    const { providerPayoutId } = (await payout())!;
    const value = { providerPayoutId: providerPayoutId!, reason: 'account closed' };
    await client.recordPayoutAnswer({
      ...funds.write(),
      advanceRequestId: id,
      answer: { case: 'returned', value },
    });
    expect(await submit(input)).toBe('RETURNED');
    expect(provider.callsOf(id)).toHaveLength(1);
  });

  it.concurrent('is not submitted without a provider, and never counts as stuck', async () => {
    const { id, input, payout, client, funds } = await approved();
    expect(await activitiesOf().submitPayout(input)).toBe('NO_PROVIDER');
    expect(provider.callsOf(id)).toEqual([]);
    expect(await payout()).toBeUndefined();
    expect((await client.listProviderQueue(funds.tenant)).items).toEqual([]);
  });
});
