import { createClient } from '@connectrpc/connect';
import {
  RefundCaseOrder,
  RefundCaseService,
  RefundCaseStatus,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays, civilDateAt } from '../../services/platform/civil-date.ts';
import { type ComparedList, compareLists, uuidOf } from './list-comparison.ts';
import { SEEDED } from './seed-lists.ts';

const middle = addDays(civilDateAt(new Date()), -500);

/** Each filter of the list, and those that can be combined so that few of many rows match. */
const FILTERS: ComparedList['filters'] = {
  'no filter': {},
  'status, most': { status: RefundCaseStatus.SUCCEEDED },
  'status, few': { status: RefundCaseStatus.MERCHANT_REVIEW },
  'status, none': { status: RefundCaseStatus.CANCELED },
  'by deadline': { order: RefundCaseOrder.REVIEW_DEADLINE },
  initiator: { initiator: RefundInitiator.MERCHANT },
  'status and initiator': { status: RefundCaseStatus.FAILED, initiator: RefundInitiator.MERCHANT },
  'status and initiator, none': { status: RefundCaseStatus.REJECTED, initiator: RefundInitiator.MERCHANT },
  order: ({ count }) => ({ orderId: uuidOf(`order${count / 2}`) }),
  'order and status': ({ count }) => ({
    orderId: uuidOf(`order${count / 2}`),
    status: RefundCaseStatus.SUCCEEDED,
  }),
  'from a day in the middle': { toDate: middle },
  'day and status': { toDate: middle, status: RefundCaseStatus.FAILED },
  payment: ({ count }) => ({ paymentIntentId: uuidOf(`${count / 2}`) }),
};

/** How much longer ListRefundCases takes, with each filter, for a merchant with a thousand times as many cases. */
export const benchCaseLists = () =>
  compareLists((transport) => {
    const refunds = createClient(RefundCaseService, transport);
    return {
      'refund cases': {
        rows: SEEDED['refund cases'],
        read: async (request) => (await refunds.listRefundCases(request)).refundCases,
        filters: FILTERS,
      },
    };
  });
