import { createClient, type Transport } from '@connectrpc/connect';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import type { TestHarness, TestTenant } from '../../support/harness.ts';
import { placeRow, timeOf } from '../../support/list-walk.ts';
import { sqlOf } from '../../support/sql.ts';
import { fundsCaller } from '../funds/funds-caller.ts';
import { SOLD } from './advances-caller.ts';

/** Columns of a request that has not been reviewed, whatever the state of the one it is copied from. */
const PENDING = {
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

/** Short calls to the funds and advances of a merchant. */
export function requestsOf(transport: Transport, tenant: TestTenant) {
  const funds = fundsCaller(transport, tenant);
  const advances = createClient(AdvanceService, transport);
  return {
    ...funds,
    advances,
    /** Sells for 1.00, and requests an advance of that. */
    async request() {
      const { saleId } = await funds.sell({ on: SOLD, gross: 100n });
      const { quote } = await advances.quoteAdvance({ ...funds.write(SOLD), maxAmountMinor: 100n });
      const { advanceRequest } = await advances.requestAdvance({ ...funds.write(SOLD), quoteId: quote!.id });
      return { saleId, quote: quote!, advanceRequest: advanceRequest! };
    },
  };
}

/** The requests of a merchant in a list. A request takes three calls, so all but the first are copies of it. */
export class PlacedRequests {
  readonly #harness: TestHarness;
  readonly #request: ReturnType<typeof requestsOf>['request'];
  /** The id of the first. */
  first: Promise<string> | undefined;

  constructor(harness: TestHarness, { request }: Pick<ReturnType<typeof requestsOf>, 'request'>) {
    this.#harness = harness;
    this.#request = request;
  }

  async insert(place: number): Promise<void> {
    if (this.first) {
      await copyRequest(this.#harness, await this.first, 1, { ...PENDING, requested_at: timeOf(place) });
    } else {
      this.first = this.#requestIn(place);
      await this.first;
    }
  }

  async #requestIn(place: number): Promise<string> {
    const { id } = (await this.#request()).advanceRequest;
    await placeRow(this.#harness, 'advances.request', 'requested_at', id, place);
    return id;
  }
}

/** Copies the requests of a merchant with their quotes. */
export async function copyRequestsOf(
  harness: TestHarness,
  merchantId: string,
  copies: number,
): Promise<void> {
  const requests = await sqlOf<{ id: string }>(
    harness,
    'select id from advances.request where merchant_id = $1',
    [merchantId],
  );
  for (const { id } of requests) await copyRequest(harness, id, copies);
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
