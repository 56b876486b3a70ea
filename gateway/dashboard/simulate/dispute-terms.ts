import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DisputeReason } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';

const DAY_MS = 86_400_000;
const RESPONSE_DAYS = 7;

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
