import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AdvanceRequestStatus } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import * as advanceRefusal from '../../../services/contracts/advances/advance-refusal.contract.ts';
import * as advanceRelease from '../../../services/contracts/advances/advance-release.contract.ts';
import * as advanceRequest from '../../../services/contracts/advances/advance-request.contract.ts';
import { fundsCaller } from '../../services/funds/funds-caller.ts';
import { verifyFunds } from '../../services/funds/verification/verify-funds.ts';
import { sqlOf } from '../../support/sql.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { startFundsWorkflows } from '../funds/funds-workflows.ts';

const SOLD = '2020-06-20';

let workflows: Awaited<ReturnType<typeof startFundsWorkflows>>;
beforeAll(async () => {
  workflows = await startFundsWorkflows();
}, TEMPORAL_START_MS);
afterAll(async () => {
  await verifyFunds(workflows.harness);
  await workflows.close();
});

/** A merchant with one installment that an advance can cover, and a quote of it, made a while ago or now. */
async function quoted(on?: string) {
  const { harness, advances } = workflows;
  const funds = fundsCaller(harness.transports.inProcess);
  await funds.sell({ on, gross: 4_800n });
  const { quote } = await advances.quoteAdvance(funds.write(on));
  const quoteId = quote!.id;
  const owner = { merchantId: funds.tenant.merchantId, environment: 'live' as const };
  return {
    funds,
    quoteId,
    owner,
    request: async () => (await advances.requestAdvance({ ...funds.write(on), quoteId })).advanceRequest!.id,
    statusOf: async (advanceRequestId: string) =>
      (await advances.getAdvanceRequest({ ...funds.tenant, advanceRequestId })).advanceRequest!.status,
    complete: (advanceRequestId: string) => {
      const input: advanceRequest.CompleteAdvanceRequestInput = { ...owner, quoteId, advanceRequestId };
      return workflows.run(advanceRequest.workflowType, advanceRequest.workflowId(advanceRequestId), input);
    },
  };
}

it.concurrent('completes a request that only claimed its quote', async () => {
  const { funds, quoteId, complete, request } = await quoted();
  expect(await complete(randomUUID())).toBe('REQUESTED');
  const { advanceRequests } = await workflows.advances.listAdvanceRequests(funds.tenant);
  expect(advanceRequests).toMatchObject([{ quoteId, status: AdvanceRequestStatus.PENDING_REVIEW }]);
  expect((await funds.advanceable()).installments).toEqual([]);
  await expect(request()).rejects.toThrow('has been requested');
});

it.concurrent('does not change an existing request', async () => {
  const { complete, request, statusOf } = await quoted();
  const advanceRequestId = await request();
  expect(await complete(advanceRequestId)).toBe('REQUESTED');
  expect(await statusOf(advanceRequestId)).toBe(AdvanceRequestStatus.PENDING_REVIEW);
});

it.concurrent('gives up a request whose installments have changed since the quote', async () => {
  const { funds, complete } = await quoted();
  await funds.deduct(1n);
  const { installments } = await funds.advanceable();
  const advanceRequestId = randomUUID();
  expect(await complete(advanceRequestId)).toBe('REFUSED');
  expect((await workflows.advances.listAdvanceRequests(funds.tenant)).advanceRequests).toEqual([]);
  await expect(funds.reserve(installments, advanceRequestId)).rejects.toThrow('has been freed');
});

it.concurrent('frees the reservation of a request whose quote has expired', async () => {
  const { funds, complete } = await quoted(SOLD);
  const advanceRequestId = randomUUID();
  const { installments } = await funds.advanceable(SOLD);
  await funds.reserve(installments, advanceRequestId, SOLD);
  expect(await complete(advanceRequestId)).toBe('REFUSED');
  expect((await funds.advanceable(SOLD)).installments).toHaveLength(1);
  await expect(funds.reserve(installments, advanceRequestId, SOLD)).rejects.toThrow('has been freed');
});

it.concurrent('completes a payout that had only started, and settles the advance after its last date', async () => {
  const { funds, owner, request, statusOf } = await quoted(SOLD);
  const advanceRequestId = await request();
  await workflows.advances.approveAdvance({ ...funds.write(SOLD), advanceRequestId });
  await startPayoutAlone(advanceRequestId);
  const input: advanceRelease.ReleaseAdvanceInput = {
    ...owner,
    advanceRequestId,
    settlesAt: new Date(Date.now() + 22_000).toISOString(),
  };
  await workflows.run(advanceRelease.workflowType, advanceRelease.workflowId(advanceRequestId), input);
  expect(await statusOf(advanceRequestId)).toBe(AdvanceRequestStatus.SETTLED);
  expect(await funds.rows()).toEqual([['2020-07-20', 'SCHEDULED', 0n, 4_800n, 0n, 1]]);
});

it.concurrent('frees the reservation of a refused request, once', async () => {
  const { funds, owner, request } = await quoted(SOLD);
  const advanceRequestId = await request();
  const input = { ...owner, advanceRequestId };
  for (let runs = 0; runs < 2; runs += 1) {
    await workflows.run(advanceRefusal.workflowType, advanceRefusal.workflowId(advanceRequestId), input);
  }
  expect((await funds.advanceable(SOLD)).installments).toHaveLength(1);
});

/** The state left by a process that dies after the first of the payout's three steps. */
async function startPayoutAlone(advanceRequestId: string): Promise<void> {
  const start = 'update advances.request set release_started_at = $2 where id = $1';
  await sqlOf(workflows.harness, start, [advanceRequestId, `${SOLD}T16:00:00Z`]);
}
