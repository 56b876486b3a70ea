import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';

/** What a merchant owes beyond its balance. */
export interface DebtSubject {
  readonly kind: 'DEBTS';
  /** In centavos; positive. */
  readonly owedMinor: bigint;
  /** When the last debt arose; identifies the occasion. */
  readonly happenedAt: Date;
}

const CALL = { timeoutMs: 10_000 };
const PAGE_SIZE = 100;

/** The debts that the merchant's available balance does not cover; undefined if it covers them all. */
export async function findUncoveredDebts(
  funds: Client<typeof FundsService>,
  tenant: { readonly merchantId: string; readonly environment: Environment },
): Promise<DebtSubject | undefined> {
  const { availableAmountMinor } = await funds.getBalance(tenant, CALL);
  if (availableAmountMinor >= 0n) return undefined;
  const { debts } = await funds.listDebts({ ...tenant, pageSize: PAGE_SIZE }, CALL);
  const last = debts.at(-1);
  return (
    last && { kind: 'DEBTS', owedMinor: -availableAmountMinor, happenedAt: timestampDate(last.occurredAt!) }
  );
}
