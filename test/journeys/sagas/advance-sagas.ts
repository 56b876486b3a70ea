import { type CallOptions, createClient } from '@connectrpc/connect';
import { expect } from 'vitest';
import {
  AdvanceService,
  AdvanceRequestStatus as Status,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import * as advanceRefusal from '../../../services/contracts/advances/advance-refusal.contract.ts';
import * as advanceRelease from '../../../services/contracts/advances/advance-release.contract.ts';
import * as advanceRequest from '../../../services/contracts/advances/advance-request.contract.ts';
import { fundsCaller } from '../../services/funds/funds-caller.ts';
import { openSession, sqlOf } from '../../support/sql.ts';
import { around, eventually, type Saga, type SagaWorld } from './saga.ts';

/** How long workflows wait before they complete an interrupted call. */
const COMPLETE_AFTER_MS = 20_000;

/** Funds of this day are due, so that an advance on them is settled as soon as it is released. */
const PAST = '2020-06-20';

/** A merchant with one sale of 48.00, and the calls of its one advance. */
async function merchantWithAdvanceableSale({ harness, provider }: SagaWorld, on?: string) {
  const funds = fundsCaller(harness.transports.inProcess);
  const client = createClient(AdvanceService, harness.transports.inProcess);
  const { merchantId } = funds.tenant;
  await funds.sell({ on, gross: 4_800n });
  const list = async () => (await client.listAdvanceRequests(funds.tenant)).advanceRequests;
  return {
    client,
    merchantId,
    waitUntilAdvanceable,
    waitUntilPaidOut,
    waitForStatus,
    write: () => funds.write(on),
    quote: async () => (await client.quoteAdvance(funds.write(on))).quote!.id,
    /** An approved request, whose payout the provider accepts. */
    async approve() {
      const { quote } = await client.quoteAdvance(funds.write(on));
      const { advanceRequest } = await client.requestAdvance({ ...funds.write(on), quoteId: quote!.id });
      const advanceRequestId = advanceRequest!.id;
      const value = { providerPayoutId: 'po_1' };
      provider.payout(advanceRequestId, () => ({ result: { case: 'accepted', value } }));
      await client.approveAdvance({ ...funds.write(on), advanceRequestId });
      return advanceRequestId;
    },
    async refuse() {
      const [{ id: advanceRequestId } = { id: '' }] = await list();
      await client.refuseAdvance({ ...funds.write(), advanceRequestId, reason: 'not this time' });
    },
    interrupt,
  };

  function waitForStatus(status: Status) {
    return eventually(async () =>
      expect((await list()).map((request) => Status[request.status])).toEqual([Status[status]]),
    );
  }
  function waitUntilAdvanceable() {
    return eventually(async () => expect((await funds.advanceable()).installments).toHaveLength(1));
  }
  function waitUntilPaidOut() {
    return eventually(async () =>
      expect((await list()).map(({ payout }) => payout?.providerPayoutId)).toEqual(['po_1']),
    );
  }
  /** Makes a call that is interrupted after its first commit, which starts the workflow. */
  async function interrupt(workflowType: string, call: (options: CallOptions) => Promise<unknown>) {
    await using lock = await openSession(harness.databaseUrl);
    await lock.query('begin');
    await lock.query('select from funds.account where merchant_id = $1 for update', [merchantId]);
    const caller = new AbortController();
    const interrupted = call({ signal: caller.signal }).catch(() => undefined);
    const started = 'select from platform.outbox_command where merchant_id = $1 and workflow_type = $2';
    await eventually(async () =>
      expect(await sqlOf(harness, started, [merchantId, workflowType])).not.toEqual([]),
    );
    caller.abort();
    await interrupted;
  }
}

const request: Saga = {
  name: 'an advance whose request is interrupted',
  steps: around('RequestAdvance'),
  waitMs: COMPLETE_AFTER_MS,
  async prepare(world) {
    const { client, merchantId, ...advance } = await merchantWithAdvanceableSale(world);
    return {
      merchantId,
      async start() {
        const request = { ...advance.write(), quoteId: await advance.quote() };
        await advance.interrupt(advanceRequest.workflowType, (call) => client.requestAdvance(request, call));
      },
      waitUntilDone: () => advance.waitForStatus(Status.PENDING_REVIEW),
      async finish() {
        await advance.refuse();
        await advance.waitUntilAdvanceable();
      },
    };
  },
};

const refusal: Saga = {
  name: 'an advance whose refusal is interrupted',
  steps: around('FreeReservation'),
  async prepare(world) {
    const { client, merchantId, ...advance } = await merchantWithAdvanceableSale(world);
    const advanceRequestId = await advance.approve();
    const refusal = { ...advance.write(), advanceRequestId, reason: 'not this time' };
    return {
      merchantId,
      start: () =>
        advance.interrupt(advanceRefusal.workflowType, (call) => client.refuseAdvance(refusal, call)),
      async waitUntilDone() {
        await advance.waitForStatus(Status.REFUSED);
        await advance.waitUntilAdvanceable();
      },
    };
  },
};

const release: Saga = {
  name: 'an advance whose release is interrupted',
  steps: around('ReleaseAdvance', 'SettleAdvance'),
  waitMs: COMPLETE_AFTER_MS,
  async prepare(world) {
    const { client, merchantId, ...advance } = await merchantWithAdvanceableSale(world, PAST);
    const submitted: string[] = [];
    return {
      merchantId,
      submitted,
      async start() {
        const advanceRequestId = await advance.approve();
        submitted.push(advanceRequestId);
        const request = { ...advance.write(), advanceRequestId };
        await advance.interrupt(advanceRelease.workflowType, (call) => client.releaseAdvance(request, call));
      },
      async waitUntilDone() {
        await advance.waitUntilPaidOut();
        await advance.waitForStatus(Status.SETTLED);
      },
    };
  },
};

const payout: Saga = {
  name: 'the payout of an advance',
  steps: around('RecordPayoutAnswer'),
  async prepare(world) {
    const { client, merchantId, ...advance } = await merchantWithAdvanceableSale(world, PAST);
    const submitted: string[] = [];
    return {
      merchantId,
      submitted,
      async start() {
        const advanceRequestId = await advance.approve();
        submitted.push(advanceRequestId);
        await client.releaseAdvance({ ...advance.write(), advanceRequestId });
      },
      waitUntilDone: () => advance.waitUntilPaidOut(),
      finish: () => advance.waitForStatus(Status.SETTLED),
    };
  },
};

export const ADVANCE_SAGAS: readonly Saga[] = [request, refusal, release, payout];
