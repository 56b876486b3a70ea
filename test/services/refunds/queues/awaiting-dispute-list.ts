import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DisputeOrder } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { HOUR_MS } from '../../../../services/platform/durations.ts';
import type { TestHarness } from '../../../support/harness.ts';
import { type ListSubject, newestFirst, rpcPage } from '../../../support/list-walk.ts';
import { refundsOf } from '../refund-case-fixture.ts';

const NOW_MS = Date.now();
const PAYMENTS = [randomUUID(), randomUUID()];

/** The list of disputes that await the merchant's response, for the list suite. Every third one has no due date. */
export function awaitingDisputeList(harness: TestHarness): ListSubject {
  return {
    harness,
    direction: 'asc',
    filters: { paymentIntentId: { values: PAYMENTS, isId: true } },
    truth: `select id as key, ${newestFirst('coalesce(due_at, opened_at)')}, payment_intent_id as "paymentIntentId"
      from refunds.dispute where merchant_id = $1 and environment = $2
       and closed_at is null and responded_at is null and coalesce(due_at, 'infinity') > now()`,
    async fixtureOf(tenant) {
      const { refunds, write } = refundsOf(harness, 'inProcess', tenant);
      let opened = 0;
      const open = (due: object) => {
        const dispute = { disputeId: randomUUID(), paymentIntentId: PAYMENTS[opened++ % 2]! };
        const occurredAt = timestampFromMs(NOW_MS - 2 * HOUR_MS);
        return refunds.openDispute({ ...write(), ...dispute, occurredAt, ...due });
      };
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const order = DisputeOrder.DUE_DATE;
          const request = { ...tenant, ...filters, order, pageSize: limit, pageToken: after };
          return rpcPage(refunds.listDisputes(request), ({ disputes }) => disputes.map(({ id }) => id));
        },
        async insert(place) {
          if (opened % 3 === 0) await open({ occurredAt: timestampFromMs(NOW_MS - HOUR_MS + place) });
          else await open({ dueAt: timestampFromMs(NOW_MS + HOUR_MS + place) });
          // Overdue ones are not listed.
          if (opened % 9 === 0) await open({ dueAt: timestampFromMs(NOW_MS - HOUR_MS) });
        },
        /** Most stay in the list, because the suite counts them. */
        async change({ key: disputeId }, pick) {
          if (pick % 6 === 0) await refunds.closeDispute({ ...write(), disputeId });
          if (pick % 6 === 1) await refunds.respondToDispute({ ...write(), disputeId, text: 'delivered' });
        },
      };
    },
  };
}
