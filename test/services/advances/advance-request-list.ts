import { AdvanceRequestStatus } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import type { TestHarness } from '../../support/harness.ts';
import { type ListSubject, newestFirst, rpcPage } from '../../support/list-walk.ts';
import { SOLD } from './advances-caller.ts';
import { PlacedRequests, requestsOf } from './request-rows.ts';

const AT_PROVIDER = 'E60701190202611300230abcdefghijk';

/** The list of advance requests, for the list suite. */
export function advanceRequestList(harness: TestHarness): ListSubject {
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
      const merchant = requestsOf(harness.transports.inProcess, tenant);
      const { advances, write } = merchant;
      const placed = new PlacedRequests(harness, merchant);
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const { status: name, providerPayoutId } = filters;
          const status = AdvanceRequestStatus[name as keyof typeof AdvanceRequestStatus];
          const page = { pageSize: limit, pageToken: after };
          const response = advances.listAdvanceRequests({
            ...tenant,
            ...page,
            ...(name && { status }),
            ...(providerPayoutId && { providerPayoutId }),
          });
          return rpcPage(response, (answer) => answer.advanceRequests.map(({ id }) => id));
        },
        insert: (place) => placed.insert(place),
        async change({ key, status }, pick) {
          const request = { ...write(SOLD), advanceRequestId: key };
          // Only the first has a reservation to pay out.
          if (status === 'APPROVED' && key === (await placed.first)) {
            await advances.releaseAdvance(request);
            const answer = { case: 'accepted', value: { providerPayoutId: AT_PROVIDER } } as const;
            await advances.recordPayoutAnswer({ ...request, ...write(), answer });
          }
          if (status !== 'PENDING_REVIEW') return;
          if (pick % 2) await advances.approveAdvance(request);
          else await advances.refuseAdvance({ ...request, reason: 'not this time' });
        },
      };
    },
  };
}
