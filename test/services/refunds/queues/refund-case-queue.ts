import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import {
  MerchantDecisionKind,
  RefundBlocker,
  RefundCaseService,
  RefundCaseStatus,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { copyRows } from '../../../support/copy-rows.ts';
import type { TestHarness } from '../../../support/harness.ts';
import { type ListFilters, newestFirst, rpcPage } from '../../../support/list-walk.ts';
import type { Queue } from '../../../support/queue-suite.ts';
import { refundsOf } from '../refund-case-fixture.ts';

const START_MS = Date.now() - 3_600_000;
const hasBlocker = (row: { readonly [column: string]: string | null }, value: string) =>
  row.blockers!.split(',').includes(value);

/** The queue of open cases, for the queue suite. */
export function refundCaseQueue(harness: TestHarness): Queue {
  return {
    table: 'refunds.refund_case',
    isMultiplied: true,
    list: (transport) => createClient(RefundCaseService, transport).listRefundCaseQueue({}),
    copyRowsOf: (merchantId) => copyRows(harness, 'refunds.refund_case', ['merchant_id', merchantId], 5_000),
    addFinished: () => addFinishedCases(harness),
    subjectOf: (scopeOf) => ({
      harness,
      direction: 'asc',
      filters: {
        status: { values: ['MERCHANT_REVIEW', 'SERVICE_REVIEW', 'APPROVED_FOR_EXECUTION'] },
        blocker: { values: ['KYC_NOT_APPROVED', 'PAYMENT_NOT_LIVE'], fits: hasBlocker },
      },
      truth: `select id as key, ${newestFirst('requested_at')}, status,
          array_to_string(blocked_by, ',') as blockers
        from refunds.refund_case where merchant_id = $1 and environment = $2
         and status not in ('SUCCEEDED', 'FAILED', 'CANCELED', 'REJECTED')`,
      async fixtureOf(tenant) {
        const { refunds, write, open } = refundsOf(harness, 'inProcess', tenant);
        let opened = 0;
        return {
          tenant,
          list: ({ filters = {}, limit = 0, after = '' }) => {
            const request = { ...scopeOf(tenant), ...requestOf(filters), pageSize: limit, pageToken: after };
            return rpcPage(refunds.listRefundCaseQueue(request), ({ items }) =>
              items.map(({ refundCase }) => refundCase!.id),
            );
          },
          async insert(place) {
            const occurredAt = timestampFromMs(START_MS + place);
            const { id: refundCaseId } = await open({
              occurredAt,
              paidAt: timestampFromMs(START_MS - 1_000),
            });
            opened += 1;
            const blocker = RefundBlocker.KYC_NOT_APPROVED;
            if (opened % 3 === 0) await refunds.addBlocker({ ...write(), refundCaseId, blocker });
          },
          /** Most stay in the queue, because the suite counts them. */
          async change({ key: refundCaseId, status }, pick) {
            const request = { ...write(), refundCaseId };
            if (pick % 4 === 3) await refunds.cancelRefundCase(request);
            else if (status === 'MERCHANT_REVIEW' && pick % 4) {
              const decision = MerchantDecisionKind[pick % 4 === 1 ? 'APPROVED' : 'CONTESTED'];
              await refunds.decideRefundCase({ ...request, decision });
            } else await refunds.addBlocker({ ...request, blocker: RefundBlocker.PAYMENT_NOT_LIVE });
          },
        };
      },
    }),
  };
}

function requestOf({ status, blocker }: ListFilters) {
  return {
    ...(status && { status: RefundCaseStatus[status as keyof typeof RefundCaseStatus] }),
    ...(blocker && { blocker: RefundBlocker[blocker as keyof typeof RefundBlocker] }),
  };
}

/** Adds 1000 canceled cases. */
export async function addFinishedCases(harness: TestHarness): Promise<void> {
  const { refunds, write, open } = refundsOf(harness);
  const { id: refundCaseId } = await open({ saleId: randomUUID() });
  await refunds.cancelRefundCase({ ...write(), refundCaseId });
  await copyRows(harness, 'refunds.refund_case', ['id', refundCaseId], 1000);
}
