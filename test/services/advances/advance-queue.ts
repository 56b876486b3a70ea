import { createClient } from '@connectrpc/connect';
import { AdvanceRequestStatus, AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { newTenant, type TestHarness } from '../../support/harness.ts';
import { newestFirst, placeRow, rpcPage, timeOf } from '../../support/list-walk.ts';
import type { Queue } from '../../support/queue-suite.ts';
import { sqlOf } from '../../support/sql.ts';
import { fundsCaller } from '../funds/funds-caller.ts';

const SOLD = '2020-06-20';
/** Columns of a request that has not been reviewed, whatever the state of the one it is copied from. */
export const PENDING = {
  status: 'PENDING_REVIEW',
  reviewed_at: null,
  review_reason: null,
  release_started_at: null,
  release_started_by: null,
  released_at: null,
  payout_submitted_at: null,
  payout_attempts: 0,
  payout_last_answer_at: null,
  payout_last_answer: null,
  payout_last_reason: null,
  payout_accepted_at: null,
  payout_provider_id: null,
};

/** The queue of requests to review or pay out, for the queue suite. */
export function advanceQueue(harness: TestHarness): Queue {
  return {
    table: 'advances.request',
    list: (transport) => createClient(AdvanceService, transport).listAdvanceQueue({}),
    addFinished: () => addRefusedRequests(harness),
    subjectOf: (scopeOf) => ({
      harness,
      direction: 'asc',
      filters: { status: { values: ['PENDING_REVIEW', 'APPROVED'] } },
      truth: `select id as key, ${newestFirst('requested_at')}, status
        from advances.request where merchant_id = $1 and environment = $2
         and status in ('PENDING_REVIEW', 'APPROVED')`,
      async fixtureOf(tenant) {
        const { sell, write } = fundsCaller(harness.transports.inProcess, tenant);
        const client = createClient(AdvanceService, harness.transports.inProcess);
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
          list: ({ filters: { status } = {}, limit = 0, after = '' }) => {
            const page = { ...scopeOf(tenant), pageSize: limit, pageToken: after };
            const ofStatus = AdvanceRequestStatus[status as keyof typeof AdvanceRequestStatus];
            const response = client.listAdvanceQueue({ ...page, ...(status && { status: ofStatus }) });
            return rpcPage(response, ({ items }) => items.map((item) => item.advanceRequest!.id));
          },
          /** A request takes three calls, so further ones are copies of the first. */
          async insert(place) {
            if (first) {
              await copyRequest(harness, await first, 1, { ...PENDING, requested_at: timeOf(place) });
            } else {
              first = request(place);
              await first;
            }
          },
          async change({ key: advanceRequestId, status }, pick) {
            const request = { ...write(SOLD), advanceRequestId };
            if (status === 'PENDING_REVIEW' && pick % 3) await client.approveAdvance(request);
            else await client.refuseAdvance({ ...request, reason: 'not this time' });
          },
        };
      },
    }),
  };
}

/** Adds 1000 refused requests. */
async function addRefusedRequests(harness: TestHarness): Promise<void> {
  const tenant = newTenant();
  const client = createClient(AdvanceService, harness.transports.inProcess);
  const { sell, write } = fundsCaller(harness.transports.inProcess, tenant);
  await sell({ on: SOLD, gross: 100n });
  const { quote } = await client.quoteAdvance({ ...write(SOLD), maxAmountMinor: 100n });
  const { advanceRequest } = await client.requestAdvance({ ...write(SOLD), quoteId: quote!.id });
  const advanceRequestId = advanceRequest!.id;
  await client.refuseAdvance({ ...write(SOLD), advanceRequestId, reason: 'not this time' });
  await copyRequest(harness, advanceRequestId, 1_000);
}

/** Copies a request with its quote; `changes` replaces columns of the request. */
export async function copyRequest(
  harness: TestHarness,
  id: string,
  copies: number,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await sqlOf(
    harness,
    `with request as materialized (
       select r, gen_random_uuid() as quote_id from advances.request r, generate_series(1, $2) where id = $1),
     quote as (
       insert into advances.quote
       select copy.* from request join advances.quote q on q.id = (request.r).quote_id,
              jsonb_populate_record(q, jsonb_build_object('id', request.quote_id)) copy
     )
     insert into advances.request
     select copy.* from request,
            jsonb_populate_record(r, jsonb_build_object('id', uuidv7(), 'quote_id', quote_id) || $3::jsonb) copy`,
    [id, copies, changes],
  );
}
