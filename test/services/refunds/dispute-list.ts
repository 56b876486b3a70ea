import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DisputeOutcome } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { TestHarness } from '../../support/harness.ts';
import { type ListSubject, newestFirst, rpcPage } from '../../support/list-walk.ts';
import { refundsOf, type Way } from './refund-case-fixture.ts';

const PAYMENTS = [randomUUID(), randomUUID(), randomUUID()];
const START_MS = Date.now() - 3_600_000;

/** The list of disputes, for the suite of lists. */
export function disputeList(harness: TestHarness, way: Way = 'inProcess'): ListSubject {
  return {
    ...{ harness, direction: 'desc', maxLimit: 100, maxTokenLength: 200 },
    filters: { paymentIntentId: { values: PAYMENTS, isId: true } },
    truth: `select id as key, ${newestFirst('opened_at')}, payment_intent_id as "paymentIntentId",
        closed_at::text as "closedAt"
      from refunds.dispute where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      const { refunds, write } = refundsOf(harness, way, tenant);
      let opened = 0;
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const request = { ...tenant, ...filters, pageSize: limit, pageToken: after };
          return rpcPage(refunds.listDisputes(request), ({ disputes }) => disputes.map(({ id }) => id));
        },
        async insert(place) {
          const occurredAt = timestampFromMs(START_MS + place);
          const paymentIntentId = PAYMENTS[opened++ % 3]!;
          await refunds.openDispute({ ...write(), disputeId: randomUUID(), paymentIntentId, occurredAt });
        },
        async change({ key: disputeId, closedAt }, pick) {
          const outcome = pick % 2 ? DisputeOutcome.WON : DisputeOutcome.LOST;
          if (closedAt === null) await refunds.closeDispute({ ...write(), disputeId, outcome });
        },
      };
    },
  };
}
