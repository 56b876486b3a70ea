import { type CallOptions, createClient } from '@connectrpc/connect';
import { Client } from 'pg';
import { expect } from 'vitest';
import {
  AdvanceService,
  AdvanceRequestStatus as Status,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import * as advanceRefusal from '../../../services/contracts/advances/advance-refusal.contract.ts';
import * as advanceRelease from '../../../services/contracts/advances/advance-release.contract.ts';
import * as advanceRequest from '../../../services/contracts/advances/advance-request.contract.ts';
import { fundsCaller } from '../../services/funds/funds-caller.ts';
import { sqlOf } from '../../support/harness-sql.ts';
import { recovers, type Saga, type SagaWorld } from './saga.ts';

/** How long workflows wait before they complete an interrupted call. */
const COMPLETE_AFTER_MS = 20_000;

/** Funds of this day are due, so that an advance on them is settled as soon as it is released. */
const PAST = '2020-06-20';

/** A merchant with one sale of 48.00, and the steps of its one advance. */
async function advancer({ harness, provider }: SagaWorld, on?: string) {
  const funds = fundsCaller(harness.transports.inProcess);
  const client = createClient(AdvanceService, harness.transports.inProcess);
  const { merchantId } = funds.tenant;
  await funds.sell({ on, gross: 4_800n });
  const list = async () => (await client.listAdvanceRequests(funds.tenant)).advanceRequests;
  return {
    client,
    merchantId,
    isFree,
    isPaidOut,
    becomes,
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
    halfway,
  };

  function becomes(status: Status) {
    return recovers(async () =>
      expect((await list()).map((request) => Status[request.status])).toEqual([Status[status]]),
    );
  }
  function isFree() {
    return recovers(async () => expect((await funds.advanceable()).installments).toHaveLength(1));
  }
  function isPaidOut() {
    return recovers(async () =>
      expect((await list()).map(({ payout }) => payout?.providerPayoutId)).toEqual(['po_1']),
    );
  }
  /** Makes a call that is interrupted after its first commit, which starts the workflow. */
  async function halfway(workflowType: string, call: (options: CallOptions) => Promise<unknown>) {
    const lock = new Client({ connectionString: harness.databaseUrl });
    await lock.connect();
    try {
      await lock.query('begin');
      await lock.query('select from funds.account where merchant_id = $1 for update', [merchantId]);
      const caller = new AbortController();
      const left = call({ signal: caller.signal }).catch(() => undefined);
      const started = 'select from platform.outbox_command where merchant_id = $1 and workflow_type = $2';
      await recovers(async () =>
        expect(await sqlOf(harness, started, [merchantId, workflowType])).not.toEqual([]),
      );
      caller.abort();
      await left;
    } finally {
      await lock.end();
    }
  }
}

const request: Saga = {
  name: 'an advance whose request fails halfway',
  steps: ['before RequestAdvance', 'within RequestAdvance', 'after RequestAdvance'],
  waitMs: COMPLETE_AFTER_MS,
  async prepare(world) {
    const { client, merchantId, ...advance } = await advancer(world);
    return {
      merchantId,
      async setOff() {
        const request = { ...advance.write(), quoteId: await advance.quote() };
        await advance.halfway(advanceRequest.workflowType, (call) => client.requestAdvance(request, call));
      },
      isDone: () => advance.becomes(Status.PENDING_REVIEW),
      async end() {
        await advance.refuse();
        await advance.isFree();
      },
    };
  },
};

const refusal: Saga = {
  name: 'an advance whose refusal fails halfway',
  steps: ['before FreeReservation', 'within FreeReservation', 'after FreeReservation'],
  async prepare(world) {
    const { client, merchantId, ...advance } = await advancer(world);
    const advanceRequestId = await advance.approve();
    const refusal = { ...advance.write(), advanceRequestId, reason: 'not this time' };
    return {
      merchantId,
      setOff: () =>
        advance.halfway(advanceRefusal.workflowType, (call) => client.refuseAdvance(refusal, call)),
      async isDone() {
        await advance.becomes(Status.REFUSED);
        await advance.isFree();
      },
    };
  },
};

const release: Saga = {
  name: 'an advance whose release fails halfway',
  steps: [
    'before ReleaseAdvance',
    'within ReleaseAdvance',
    'after ReleaseAdvance',
    'before SettleAdvance',
    'within SettleAdvance',
    'after SettleAdvance',
  ],
  waitMs: COMPLETE_AFTER_MS,
  async prepare(world) {
    const { client, merchantId, ...advance } = await advancer(world, PAST);
    const submitted: string[] = [];
    return {
      merchantId,
      submitted,
      async setOff() {
        const advanceRequestId = await advance.approve();
        submitted.push(advanceRequestId);
        const request = { ...advance.write(), advanceRequestId };
        await advance.halfway(advanceRelease.workflowType, (call) => client.releaseAdvance(request, call));
      },
      async isDone() {
        await advance.isPaidOut();
        await advance.becomes(Status.SETTLED);
      },
    };
  },
};

const payout: Saga = {
  name: 'the payout of an advance',
  steps: ['before RecordPayoutAnswer', 'within RecordPayoutAnswer', 'after RecordPayoutAnswer'],
  async prepare(world) {
    const { client, merchantId, ...advance } = await advancer(world, PAST);
    const submitted: string[] = [];
    return {
      merchantId,
      submitted,
      async setOff() {
        const advanceRequestId = await advance.approve();
        submitted.push(advanceRequestId);
        await client.releaseAdvance({ ...advance.write(), advanceRequestId });
      },
      isDone: () => advance.isPaidOut(),
      end: () => advance.becomes(Status.SETTLED),
    };
  },
};

export const ADVANCE_SAGAS: readonly Saga[] = [request, refusal, release, payout];
