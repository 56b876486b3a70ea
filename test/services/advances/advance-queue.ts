import { createClient } from '@connectrpc/connect';
import { AdvanceRequestStatus, AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { newTenant, type TestHarness } from '../../support/harness.ts';
import { newestFirst, rpcPage } from '../../support/list-walk.ts';
import type { Queue } from '../../support/queue-suite.ts';
import { SOLD } from './advances-caller.ts';
import { copyRequest, copyRequestsOf, PlacedRequests, requestsOf } from './request-rows.ts';

/** The queue of requests to review or pay out, for the queue suite. */
export function advanceQueue(harness: TestHarness): Queue {
  return {
    table: 'advances.request',
    list: (transport) => createClient(AdvanceService, transport).listAdvanceQueue({}),
    copyRowsOf: (merchantId) => copyRequestsOf(harness, merchantId, 5_000),
    async addFinished() {
      const { advances, write, request } = requestsOf(harness.transports.inProcess, newTenant());
      const { id: advanceRequestId } = (await request()).advanceRequest;
      await advances.refuseAdvance({ ...write(SOLD), advanceRequestId, reason: 'not this time' });
      await copyRequest(harness, advanceRequestId, 1_000);
    },
    subjectOf: (scopeOf) => ({
      harness,
      direction: 'asc',
      filters: { status: { values: ['PENDING_REVIEW', 'APPROVED'] } },
      truth: `select id as key, ${newestFirst('requested_at')}, status
        from advances.request where merchant_id = $1 and environment = $2
         and status in ('PENDING_REVIEW', 'APPROVED')`,
      async fixtureOf(tenant) {
        const merchant = requestsOf(harness.transports.inProcess, tenant);
        const { advances, write } = merchant;
        const placed = new PlacedRequests(harness, merchant);
        return {
          tenant,
          list: ({ filters: { status } = {}, limit = 0, after = '' }) => {
            const page = { ...scopeOf(tenant), pageSize: limit, pageToken: after };
            const ofStatus = AdvanceRequestStatus[status as keyof typeof AdvanceRequestStatus];
            const response = advances.listAdvanceQueue({ ...page, ...(status && { status: ofStatus }) });
            return rpcPage(response, ({ items }) => items.map((item) => item.advanceRequest!.id));
          },
          insert: (place) => placed.insert(place),
          async change({ key: advanceRequestId, status }, pick) {
            const request = { ...write(SOLD), advanceRequestId };
            if (status === 'PENDING_REVIEW' && pick % 3) await advances.approveAdvance(request);
            else await advances.refuseAdvance({ ...request, reason: 'not this time' });
          },
        };
      },
    }),
  };
}
