import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { BlockReason, type FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { TenantFields } from '../../services/platform/tenant.ts';
import { lastOpenBlockAt } from './open-blocks.ts';

/** What a merchant owes beyond its balance. */
export interface DebtSubject {
  readonly kind: 'DEBTS';
  /** In centavos; positive. */
  readonly owedMinor: bigint;
  /** When a debt last arose or grew or, if that was later, the last open hold. With the amount it identifies the occasion. */
  readonly happenedAt: Date;
}

const HOLDS = [
  BlockReason.HOLD_OR_DISPUTE,
  BlockReason.REFUND_IN_PROGRESS,
  BlockReason.KYC_PENDING,
  BlockReason.COMPLIANCE_HOLD,
];

/** The debts that the merchant's available balance does not cover; undefined if it covers them all. */
export async function findUncoveredDebts(
  funds: Client<typeof FundsService>,
  tenant: TenantFields,
): Promise<DebtSubject | undefined> {
  const { availableAmountMinor, lastDebtAt } = await funds.getBalance(tenant);
  if (availableAmountMinor >= 0n) return undefined;
  const holds = await Promise.all(HOLDS.map((reason) => lastOpenBlockAt(funds, tenant, reason)));
  // Services of an earlier version do not say when.
  const debtMs = lastDebtAt ? timestampMs(lastDebtAt) : 0;
  const lastMs = Math.max(debtMs, ...holds.map((at) => at?.getTime() ?? 0));
  return { kind: 'DEBTS', owedMinor: -availableAmountMinor, happenedAt: new Date(lastMs) };
}
