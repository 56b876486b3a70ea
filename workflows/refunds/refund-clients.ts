import type { Client } from '@connectrpc/connect';
import type { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { RefundProviderService } from '../../proto/gen/payments/providers/v1/providers_pb.js';
import {
  type RefundCase,
  type RefundCaseService,
  RefundCaseStatus,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { RefundCaseKey } from '../../services/contracts/refunds/refund-case-key.ts';
import { tenantFields } from '../../services/platform/tenant.ts';

/** The services that the refund activities call. */
export interface RefundClients {
  readonly refunds: Client<typeof RefundCaseService>;
  readonly funds: Client<typeof FundsService>;
  /** Absent when refunds are not submitted by us. */
  readonly refundProvider?: Client<typeof RefundProviderService> | undefined;
}

export const caseFields = ({ refundCaseId, ...tenant }: RefundCaseKey) => ({
  ...tenantFields(tenant),
  refundCaseId,
});

const CLOSED: ReadonlySet<RefundCaseStatus> = new Set([
  RefundCaseStatus.SUCCEEDED,
  RefundCaseStatus.FAILED,
  RefundCaseStatus.CANCELED,
  RefundCaseStatus.REJECTED,
]);

/** Whether the case is final, except for a late return by the provider. */
export const isClosed = (status: RefundCaseStatus): boolean => CLOSED.has(status);

/** Reads the current state of the case. */
export async function readCase({ refunds }: RefundClients, input: RefundCaseKey): Promise<RefundCase> {
  const { refundCase } = await refunds.getRefundCase(caseFields(input));
  if (!refundCase) throw new TypeError('the response contains no refund case');
  return refundCase;
}
