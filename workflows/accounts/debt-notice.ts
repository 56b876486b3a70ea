import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';

import { BlockReason, type Debt, type FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { TenantFields } from '../../services/platform/tenant.ts';
import { lastOpenBlockAt } from './open-blocks.ts';

/** What a merchant owes beyond its balance. */
export interface DebtSubject {
  readonly kind: 'DEBTS';
  /** In centavos; positive. */
  readonly owedMinor: bigint;
  /** When the last debt arose or, if that was later, the last open hold; identifies the occasion. */
  readonly happenedAt: Date;
}

const PAGE_SIZE = 100;
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
  const { availableAmountMinor } = await funds.getBalance(tenant);
  if (availableAmountMinor >= 0n) return undefined;
  const last = await findLastDebt(funds, tenant);
  if (!last) return undefined;
  const holds = await Promise.all(HOLDS.map((reason) => lastOpenBlockAt(funds, tenant, reason)));
  const lastMs = Math.max(timestampMs(last.occurredAt!), ...holds.map((at) => at?.getTime() ?? 0));
  return { kind: 'DEBTS', owedMinor: -availableAmountMinor, happenedAt: new Date(lastMs) };
}

/** The list is oldest first, so the last debt is on its last page. */
async function findLastDebt(
  funds: Client<typeof FundsService>,
  tenant: TenantFields,
): Promise<Debt | undefined> {
  let last: Debt | undefined;
  let pageToken = '';
  do {
    const page = await funds.listDebts({ ...tenant, pageSize: PAGE_SIZE, pageToken });
    last = page.debts.at(-1) ?? last;
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return last;
}
