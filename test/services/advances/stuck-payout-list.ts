import { createClient } from '@connectrpc/connect';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { STUCK_AFTER_ATTEMPTS } from '../../../services/advances/advance-payout.ts';
import type { TestHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/harness-sql.ts';
import { type ListSubject, placeRow, rpcPage, timeOf } from '../../support/list-walk.ts';
import { fundsCaller } from '../funds/funds-caller.ts';

const SOLD = '2020-06-20';

/** The list of stuck payouts, for the suite of lists: what is accepted leaves it. */
export function stuckPayoutList(harness: TestHarness): ListSubject {
  const client = createClient(AdvanceService, harness.transports.inProcess);
  return {
    harness,
    direction: 'asc',
    maxLimit: 100,
    maxTokenLength: 256,
    filters: {},
    truth: `select id as key,
        to_char(payout_submitted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS') || ' ' || id as "order"
      from advances.request
     where merchant_id = $1 and environment = $2 and payout_attempts >= ${STUCK_AFTER_ATTEMPTS}
       and payout_accepted_at is null`,
    async fixtureOf(tenant) {
      const { sell, write } = fundsCaller(harness.transports.inProcess, tenant);
      const refuse = (advanceRequestId: string) =>
        client.recordPayoutAnswer({
          ...{ ...write(SOLD), advanceRequestId },
          answer: { case: 'refused', value: 'no account' },
        });
      const payOutInVain = async (place: number) => {
        await sell({ on: SOLD, gross: 100n });
        const { quote } = await client.quoteAdvance({ ...write(SOLD), maxAmountMinor: 100n });
        const { advanceRequest } = await client.requestAdvance({ ...write(SOLD), quoteId: quote!.id });
        const { id: advanceRequestId } = advanceRequest!;
        await client.approveAdvance({ ...write(SOLD), advanceRequestId });
        await client.releaseAdvance({ ...write(SOLD), advanceRequestId });
        await refuse(advanceRequestId);
        await placeRow(harness, 'advances.request', 'payout_submitted_at', advanceRequestId, place);
        for (let n = 1; n < STUCK_AFTER_ATTEMPTS; n += 1) await refuse(advanceRequestId);
        return advanceRequestId;
      };
      let stuck: Promise<string> | undefined;
      /** A payout gets stuck by a dozen calls: further ones are copies of the first. */
      const insert = async (place: number) => {
        if (stuck) return copyRequest(harness, await stuck, place);
        stuck = payOutInVain(place);
        await stuck;
      };
      let rows = 0;
      return {
        tenant,
        list: ({ limit = 0, after = '' }) => {
          const asked = client.listStuckPayouts({ ...tenant, pageSize: limit, pageToken: after });
          return rpcPage(asked, ({ advanceRequests }) => advanceRequests.map(({ id }) => id));
        },
        insert(place) {
          rows += 1;
          return insert(place);
        },
        /** Accepts only where there are few rows, for the suite counts many. */
        async change({ key }, pick) {
          if (rows > 50 || pick % 2) await refuse(key);
          else {
            const value = { providerPayoutId: 'po_1' };
            await client.recordPayoutAnswer({
              ...{ ...write(SOLD), advanceRequestId: key },
              answer: { case: 'accepted', value },
            });
          }
        },
      };
    },
  };
}

/** Copies a request and its quote to a place of the list. */
async function copyRequest(harness: TestHarness, id: string, place: number): Promise<void> {
  await sqlOf(
    harness,
    `with request as (select r, gen_random_uuid() as quote_id from advances.request r where id = $1),
     quote as (
       insert into advances.quote
       select (jsonb_populate_record(q, jsonb_build_object('id', request.quote_id))).*
         from request join advances.quote q on q.id = (request.r).quote_id
     )
     insert into advances.request
     select (jsonb_populate_record(r, jsonb_build_object(
              'id', uuidv7(), 'quote_id', quote_id, 'payout_submitted_at', $2::timestamptz))).*
       from request`,
    [id, timeOf(place)],
  );
}
