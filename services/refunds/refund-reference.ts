import {
  type OpenRefundCaseRequest,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { enumName } from '../platform/enum-name.ts';
import { alreadyExists } from '../platform/errors.ts';
import { RefundCaseEntity, type RefundCaseRow } from './refund-case.entity.ts';

/**
 * The case of the payment that was opened with the request's reference, however long ago; null without one. The payment is
 * locked. REFUND_REFERENCE_REUSED for a refund of another amount, initiator or reason.
 */
export async function findReferenced(
  tx: TenantTransaction,
  paymentIntentId: string,
  request: OpenRefundCaseRequest,
): Promise<RefundCaseRow | null> {
  const { refundReference, amountMinor, reason } = request;
  if (refundReference === undefined) return null;
  const opened = await tx.findOne(RefundCaseEntity, { paymentIntentId, refundReference });
  if (opened === null) return null;
  const initiator = enumName(RefundInitiator, request.initiator);
  const isSame =
    opened.amountMinor === amountMinor && opened.initiator === initiator && opened.reason === reason;
  if (isSame) return opened;
  throw alreadyExists('REFUND_REFERENCE_REUSED', 'the reference belongs to another refund of the payment', {
    refundCaseId: opened.id,
  });
}
