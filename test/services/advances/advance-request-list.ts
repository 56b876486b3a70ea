import { createClient } from '@connectrpc/connect';
import { AdvanceRequestStatus, AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import type { TestHarness } from '../../support/harness.ts';
import { type ListSubject, newestFirst, placeRow, rpcPage, timeOf } from '../../support/list-walk.ts';
import { fundsCaller } from '../funds/funds-caller.ts';
import { copyRequest, PENDING } from './advance-queue.ts';

const AT_PROVIDER = 'E60701190202611300230abcdefghijk';
const SOLD = '2020-06-20';

/** The list of advance requests, for the list suite. */
export function advanceRequestList(harness: TestHarness): ListSubject {
  const client = createClient(AdvanceService, harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    maxLimit: 50,
    filters: {
      status: { values: ['PENDING_REVIEW', 'APPROVED', 'REFUSED'] },
      providerPayoutId: { values: [AT_PROVIDER] },
    },
    truth: `select id as key, ${newestFirst('requested_at')}, status, payout_provider_id as "providerPayoutId"
      from advances.request where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      const { sell, write } = fundsCaller(harness.transports.inProcess, tenant);
      const request = async (place: number) => {
        await sell({ on: SOLD, gross: 100n });
        const { quote } = await client.quoteAdvance({ ...write(SOLD), maxAmountMinor: 100n });
        const { advanceRequest } = await client.requestAdvance({ ...write(SOLD), quoteId: quote!.id });
        await placeRow(harness, 'advances.request', 'requested_at', advanceRequest!.id, place);
        return advanceRequest!.id;
      };
      let first: Promise<string> | undefined;
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const { status: name, providerPayoutId } = filters;
          const status = AdvanceRequestStatus[name as keyof typeof AdvanceRequestStatus];
          const page = { pageSize: limit, pageToken: after };
          const response = client.listAdvanceRequests({
            ...tenant,
            ...page,
            ...(name && { status }),
            ...(providerPayoutId && { providerPayoutId }),
          });
          return rpcPage(response, (answer) => answer.advanceRequests.map(({ id }) => id));
        },
        /** A request takes three calls, so further ones are copies of the first. */
        async insert(place) {
          if (first) {
            const copied = { ...PENDING, requested_at: timeOf(place) };
            await copyRequest(harness, await first, 1, copied);
          } else {
            first = request(place);
            await first;
          }
        },
        async change({ key, status }, pick) {
          const request = { ...write(SOLD), advanceRequestId: key };
          // Only the first has a reservation to pay out.
          if (status === 'APPROVED' && key === (await first)) {
            await client.releaseAdvance(request);
            const answer = { case: 'accepted', value: { providerPayoutId: AT_PROVIDER } } as const;
            await client.recordPayoutAnswer({ ...request, ...write(), answer });
          }
          if (status !== 'PENDING_REVIEW') return;
          if (pick % 2) await client.approveAdvance(request);
          else await client.refuseAdvance({ ...request, reason: 'not this time' });
        },
      };
    },
  };
}
