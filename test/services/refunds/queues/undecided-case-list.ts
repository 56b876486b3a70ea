import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  MerchantDecisionKind,
  RefundBlocker,
  RefundCaseOrder,
  RefundInitiator,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { TestHarness } from '../../../support/harness.ts';
import { type ListSubject, newestFirst, rpcPage } from '../../../support/list-walk.ts';
import { refundsOf } from '../refund-case-fixture.ts';

const PAYMENTS = [randomUUID(), randomUUID()];
const START_MS = Date.now() - 3_600_000;

/** The list of refund cases that await the merchant, for the list suite. */
export function undecidedCaseList(harness: TestHarness): ListSubject {
  return {
    harness,
    direction: 'asc',
    filters: { paymentIntentId: { values: PAYMENTS, isId: true } },
    truth: `select id as key, ${newestFirst('merchant_review_deadline_at')}, payment_intent_id as "paymentIntentId"
      from refunds.refund_case where merchant_id = $1 and environment = $2 and status = 'MERCHANT_REVIEW'`,
    async fixtureOf(tenant) {
      const { refunds, write, open } = refundsOf(harness, 'inProcess', tenant);
      let opened = 0;
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const order = RefundCaseOrder.REVIEW_DEADLINE;
          const request = { ...tenant, ...filters, order, pageSize: limit, pageToken: after };
          return rpcPage(refunds.listRefundCases(request), ({ refundCases }) =>
            refundCases.map(({ id }) => id),
          );
        },
        async insert(place) {
          const paidAt = timestampFromMs(START_MS - 1_000);
          const occurredAt = timestampFromMs(START_MS + place);
          const paymentIntentId = PAYMENTS[opened++ % 2]!;
          await open({ amountMinor: 1n, paymentIntentId, paidAt, occurredAt });
          // Not listed: the merchant has nothing to decide in a case that it opened.
          if (opened % 9 === 0) await open({ initiator: RefundInitiator.MERCHANT, occurredAt });
        },
        /** Most stay in the list, because the suite counts them. */
        async change({ key: refundCaseId }, pick) {
          const blocker = RefundBlocker.KYC_NOT_APPROVED;
          if (pick % 3) await refunds.addBlocker({ ...write(), refundCaseId, blocker });
          else {
            const decision = MerchantDecisionKind.APPROVED;
            await refunds.decideRefundCase({ ...write(), refundCaseId, decision });
          }
        },
      };
    },
  };
}
