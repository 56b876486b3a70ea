import {
  type Balances as BalancesMessage,
  BlockReason,
  type Movement,
  MovementKind,
  type MovementTotal,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { within64Bits } from '../../platform/within-64-bits.ts';
import type { BalanceText, MovementReadRow, MovementTotalText } from './movement.queries.ts';
import { type Balances, plus } from './movement.ts';

/** The balances of a read. */
export function balancesOf([available, scheduled, blocked]: BalanceText): Balances {
  return {
    availableMinor: BigInt(available),
    scheduledMinor: BigInt(scheduled),
    blockedMinor: BigInt(blocked),
  };
}

/** The message of balances. OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE). */
export function balancesMessage(balances: Balances): BalancesMessage {
  return {
    $typeName: 'payments.funds.v1.Balances',
    availableAmountMinor: within64Bits(balances.availableMinor),
    scheduledAmountMinor: within64Bits(balances.scheduledMinor),
    blockedAmountMinor: within64Bits(balances.blockedMinor),
  };
}

/** The messages of consecutive movements, and the balances after the last one. OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE). */
export function movementMessages(
  rows: readonly MovementReadRow[],
  before: Balances,
): { readonly movements: Movement[]; readonly after: Balances } {
  let after = before;
  const movements = rows.map((row) => {
    const change = changeOf(row);
    after = plus(after, change);
    return movementMessage(row, change, after);
  });
  return { movements, after };
}

/** The message of a movement without the balances after it. */
export function saleMovementMessage(row: MovementReadRow): Movement {
  return movementMessage(row, changeOf(row));
}

export function totalMessage({ kind, count, change }: MovementTotalText): MovementTotal {
  return {
    $typeName: 'payments.funds.v1.MovementTotal',
    kind: MovementKind[kind],
    count: BigInt(count),
    change: balancesMessage(balancesOf(change)),
  };
}

const changeOf = (row: MovementReadRow): Balances => ({
  availableMinor: row.available_minor,
  scheduledMinor: row.scheduled_minor,
  blockedMinor: row.blocked_minor,
});

function movementMessage(row: MovementReadRow, change: Balances, balance?: Balances): Movement {
  return {
    $typeName: 'payments.funds.v1.Movement',
    id: row.id,
    kind: MovementKind[row.kind],
    occurredAt: row.occurred_at,
    ...(row.source_id !== null && { sourceId: row.source_id }),
    ...(row.sale_id !== null && { saleId: row.sale_id }),
    ...(row.order_number !== null && { orderNumber: row.order_number }),
    ...(row.release_date !== null && { releaseDate: row.release_date }),
    blockReason: BlockReason[row.block_reason ?? 'UNSPECIFIED'],
    change: balancesMessage(change),
    ...(balance && { balance: balancesMessage(balance) }),
    ...(row.reason !== null && { reason: row.reason }),
  };
}
