import { createClient } from '@connectrpc/connect';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import type { TestHarness } from '../../support/harness.ts';
import { type ListSubject, newestFirst, placeRow, rpcPage } from '../../support/list-walk.ts';
import { fundsCaller } from '../funds/funds-caller.ts';

const SOLD = '2020-06-20';

/** The list of advance requests, for the suite of lists. */
export function advanceRequestList(harness: TestHarness): ListSubject {
  const client = createClient(AdvanceService, harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    maxLimit: 50,
    maxTokenLength: 256,
    filters: {},
    truth: `select id as key, ${newestFirst('requested_at')}, status
      from advances.request where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      const { sell, write } = fundsCaller(harness.transports.inProcess, tenant);
      const request = async (place: number) => {
        await sell({ on: SOLD, gross: 100n });
        const { quote } = await client.quoteAdvance({ ...write(SOLD), maxAmountMinor: 100n });
        const { advanceRequest } = await client.requestAdvance({ ...write(SOLD), quoteId: quote!.id });
        await placeRow(harness, 'advances.request', 'requested_at', advanceRequest!.id, place);
      };
      // One after another: two quotes at a time would be of the same sale.
      let inserted = Promise.resolve();
      return {
        tenant,
        list: ({ limit = 0, after = '' }) => {
          const asked = client.listAdvanceRequests({ ...tenant, pageSize: limit, pageToken: after });
          return rpcPage(asked, (answer) => answer.advanceRequests.map(({ id }) => id));
        },
        insert(place) {
          inserted = inserted.then(() => request(place));
          return inserted;
        },
        async change({ key, status }, pick) {
          const request = { ...write(SOLD), advanceRequestId: key };
          if (status === 'APPROVED') await client.releaseAdvance(request);
          if (status !== 'PENDING_REVIEW') return;
          if (pick % 2) await client.approveAdvance(request);
          else await client.refuseAdvance({ ...request, reason: 'not this time' });
        },
      };
    },
  };
}
