import {
  AttemptFailure,
  type DeliveryRecord as DeliveryRecordMessage,
  type DeliveryState,
  DeliveryStatus,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { DeliveryRecord } from '../../contracts/webhooks/record-deliveries.contract.ts';
import type { RetryState } from './retry-attempt.ts';

/** The message of a delivery's state. */
export function deliveryStateMessage({ status, delayMs, last }: RetryState): DeliveryState {
  return {
    $typeName: 'payments.webhooks.v1.DeliveryState',
    status: DeliveryStatus[status],
    delayMs: BigInt(Math.ceil(delayMs)),
    lastAttemptNumber: last?.number,
    httpStatus: last?.httpStatus,
    failure: last?.failure && AttemptFailure[last.failure],
  };
}

/** The message of a recorded delivery. */
export const deliveryRecordMessage = ({ id, ...record }: DeliveryRecord): DeliveryRecordMessage => ({
  $typeName: 'payments.webhooks.v1.DeliveryRecord',
  deliveryId: id,
  ...record,
});
