import type { Client } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type { FundsService, SettleReservationRequest } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Writes } from '../platform/writes/writes.ts';

/** The dependencies of a use case across both areas. It never calls funds inside a transaction. */
export interface AdvanceDependencies {
  readonly writes: Writes;
  readonly funds: Client<typeof FundsService>;
}

type ReservationFields = Pick<
  SettleReservationRequest,
  'merchantId' | 'environment' | 'advanceRequestId' | 'occurredAt'
>;

/**
 * The request of a call to funds about the reservation of an advance request. Each attempt has a new idempotency key: a
 * later attempt has another time, and the advance request already makes a reservation unique in funds.
 */
export function reservationRequest(fields: ReservationFields) {
  const { merchantId, environment, advanceRequestId, occurredAt } = fields;
  return { merchantId, environment, advanceRequestId, occurredAt, idempotencyKey: uuidv7() };
}
