import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  ApprovalMode,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  RefundCaseStatus,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { TestHarness } from '../../support/harness.ts';
import {
  type ListFilters,
  type ListSubject,
  newestFirst,
  rpcPage,
  type TrueRow,
} from '../../support/list-walk.ts';
import { refundsOf } from './refund-case-fixture.ts';

const ORDERS = [randomUUID(), randomUUID()];
const PAYMENTS = [randomUUID(), randomUUID(), randomUUID()];
const AT_PROVIDER = 'D60701190202611300230abcdefghijk';
const START_MS = Date.now() - 3_600_000;

/** The list of refund cases, for the list suite. */
export function refundCaseList(harness: TestHarness): ListSubject {
  return {
    harness,
    direction: 'desc',
    filters: {
      initiator: { values: ['CUSTOMER', 'MERCHANT'] },
      orderId: { values: [...ORDERS, randomUUID()], isId: true },
      paymentIntentId: { values: PAYMENTS, isId: true },
      status: { values: ['MERCHANT_REVIEW', 'APPROVED_FOR_EXECUTION', 'CANCELED', 'FAILED'] },
      providerRefundId: { values: [AT_PROVIDER] },
      blockedOnly: { values: ['true'] },
    },
    truth: `select id as key, ${newestFirst('requested_at')}, status, initiator, order_id as "orderId",
        payment_intent_id as "paymentIntentId", provider_refund_id as "providerRefundId",
        (status in ('APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED') and blocked_by <> '{}')::text as "blockedOnly"
      from refunds.refund_case where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      const { refunds, write, open, start, debit } = refundsOf(harness, 'inProcess', tenant);
      let opened = 0;
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const request = { ...tenant, ...requestOf(filters), pageSize: limit, pageToken: after };
          return rpcPage(refunds.listRefundCases(request), ({ refundCases }) =>
            refundCases.map(({ id }) => id),
          );
        },
        async insert(place) {
          const n = opened++;
          const { id: refundCaseId } = await open({
            amountMinor: 1n,
            paymentIntentId: PAYMENTS[n % 3]!,
            orderId: ORDERS[n % 3],
            paidAt: timestampFromMs(START_MS - 1_000),
            initiator: n % 2 ? RefundInitiator.CUSTOMER : RefundInitiator.MERCHANT,
            approvalMode: n % 5 ? undefined : ApprovalMode.INSTANT,
            occurredAt: timestampFromMs(START_MS + place),
          });
          if (n % 3 === 1) {
            await refunds.addBlocker({ ...write(), refundCaseId, blocker: RefundBlocker.PAYMENT_NOT_LIVE });
            return;
          }
          if (n % 4) return;
          await start(refundCaseId);
          await debit(refundCaseId);
          await refunds.recordProviderOutcome({
            ...write(),
            refundCaseId,
            outcome: ProviderOutcome.SUBMITTED,
            providerRefundId: AT_PROVIDER,
          });
        },
        async change({ key, status }: TrueRow, pick) {
          const request = { ...write(), refundCaseId: key };
          if (status === 'MERCHANT_REVIEW' && pick % 2) {
            await refunds.decideRefundCase({ ...request, decision: MerchantDecisionKind.APPROVED });
          } else if (status === 'MERCHANT_REVIEW' || status === 'APPROVED_FOR_EXECUTION') {
            await refunds.cancelRefundCase(request);
          }
        },
      };
    },
  };
}

function requestOf({ initiator, status, blockedOnly, ...ids }: ListFilters) {
  return {
    ...ids,
    blockedOnly: blockedOnly === 'true',
    initiator: initiator && RefundInitiator[initiator as keyof typeof RefundInitiator],
    status: status && RefundCaseStatus[status as keyof typeof RefundCaseStatus],
  } as { initiator?: RefundInitiator; status?: RefundCaseStatus };
}
