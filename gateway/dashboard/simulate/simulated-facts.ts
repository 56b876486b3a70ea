import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { v5 as uuidv5 } from 'uuid';
import { DisputeReason } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DAY_MS } from '../../../services/platform/durations.ts';

const PAYMENT_NAMESPACE = '4b1f6a52-8f0e-4c63-9d5a-3f0f7c1de9a4';
const RESPONSE_DAYS = 7;

/** The payment id of a simulated sale, derived from the sale's id because the services do not record it. */
export const paymentOf = (saleId: string): string => uuidv5(saleId, PAYMENT_NAMESPACE);

/**
 * The reason and due date of a simulated dispute. It is due at the end of a day, so that a form that is submitted twice
 * sends the same request.
 */
export function disputeTerms() {
  const endOfDayMs = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  return {
    reason: DisputeReason.PRODUCT_NOT_RECEIVED,
    dueAt: timestampFromMs(endOfDayMs + RESPONSE_DAYS * DAY_MS),
  };
}
