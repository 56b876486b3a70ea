import { createClient } from '@connectrpc/connect';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { STUCK_AFTER_ATTEMPTS } from '../../../services/advances/advance-payout.ts';
import { newTenant, type TestHarness, type TestTenant } from '../../support/harness.ts';
import { newestFirst, rpcPage } from '../../support/list-walk.ts';
import type { Queue } from '../../support/queue-suite.ts';
import { sqlOf } from '../../support/sql.ts';
import { SOLD } from './advances-caller.ts';
import { copyRequest, copyRequestsOf, requestsOf } from './request-rows.ts';

/** The time of a place in the queue, after the sale. */
const releasedAt = (place: number) => new Date(Date.UTC(2020, 6, 1) + place);
/** The columns of a payout that was refused once. */
const REFUSED_ONCE = {
  payout_attempts: 1,
  payout_last_answer: 'REFUSED',
  payout_last_reason: 'no account',
  payout_accepted_at: null,
  payout_provider_id: null,
};

/** The queue of payouts that await the provider, for the queue suite. */
export function providerQueue(harness: TestHarness): Queue {
  return {
    table: 'advances.request',
    list: (transport) => createClient(AdvanceService, transport).listProviderQueue({}),
    copyRowsOf: (merchantId) => copyRequestsOf(harness, merchantId, 5_000),
    async addFinished() {
      const { payOut, accept } = payoutsOf(harness, newTenant());
      const advanceRequestId = await payOut(0);
      await accept(advanceRequestId);
      await copyRequest(harness, advanceRequestId, 1_000);
    },
    subjectOf: (scopeOf) => ({
      harness,
      direction: 'asc',
      filters: { stuckOnly: { values: ['true'] } },
      truth: `select id as key, ${newestFirst('released_at')},
          (payout_attempts >= ${STUCK_AFTER_ATTEMPTS})::text as "stuckOnly"
        from advances.request
       where merchant_id = $1 and environment = $2 and status = 'RELEASED' and payout_accepted_at is null`,
      async fixtureOf(tenant) {
        const { client, payOut, refuse, accept } = payoutsOf(harness, tenant);
        let rows = 0;
        let first: Promise<string> | undefined;
        return {
          tenant,
          list: ({ filters = {}, limit = 0, after = '' }) => {
            const stuckOnly = filters.stuckOnly === 'true';
            const request = { ...scopeOf(tenant), stuckOnly, pageSize: limit, pageToken: after };
            return rpcPage(client.listProviderQueue(request), ({ items }) =>
              items.map((item) => item.advanceRequest!.id),
            );
          },
          /** A payout takes seven calls, so further ones are copies of the first. */
          async insert(place) {
            rows += 1;
            if (first) {
              const changes = { ...REFUSED_ONCE, released_at: releasedAt(place) };
              await copyRequest(harness, await first, 1, changes);
            } else {
              first = payOut(place);
              await first;
            }
          },
          /** Most stay in the queue, because the suite counts them. */
          async change({ key }, pick) {
            if (rows < 50 && pick % 2) await accept(key);
            else for (let n = 1; n < STUCK_AFTER_ATTEMPTS; n += 1) await refuse(key);
          },
        };
      },
    }),
  };
}

/** The payouts of a merchant. `payOut` returns the id of a released request whose payout was refused once. */
export function payoutsOf(harness: TestHarness, tenant: TestTenant) {
  const { advances: client, write, request } = requestsOf(harness.transports.inProcess, tenant);
  const refuse = (advanceRequestId: string) =>
    client.recordPayoutAnswer({
      ...write(SOLD),
      advanceRequestId,
      answer: { case: 'refused', value: 'no account' },
    });
  const accept = (advanceRequestId: string, providerPayoutId = 'po_1') =>
    client.recordPayoutAnswer({
      ...write(SOLD),
      advanceRequestId,
      answer: { case: 'accepted', value: { providerPayoutId } },
    });
  const giveBack = (advanceRequestId: string, providerPayoutId = 'po_1') =>
    client.recordPayoutAnswer({
      ...write(SOLD),
      advanceRequestId,
      answer: { case: 'returned', value: { providerPayoutId, reason: 'account closed' } },
    });
  const approve = async () => {
    const { id: advanceRequestId } = (await request()).advanceRequest;
    await client.approveAdvance({ ...write(SOLD), advanceRequestId });
    return advanceRequestId;
  };
  const release = async () => {
    const advanceRequestId = await approve();
    await client.releaseAdvance({ ...write(SOLD), advanceRequestId });
    return advanceRequestId;
  };
  const payOut = async (place: number) => {
    const advanceRequestId = await release();
    await sqlOf(harness, 'update advances.request set released_at = $1 where id = $2', [
      releasedAt(place),
      advanceRequestId,
    ]);
    await refuse(advanceRequestId);
    return advanceRequestId;
  };
  return { client, tenant, request, approve, release, payOut, refuse, accept, giveBack };
}
