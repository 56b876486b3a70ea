import * as notifyContact from '../../contracts/accounts/notify-contact.contract.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { later } from '../../platform/timestamps.ts';
import { allocateDeduction } from '../allocation.ts';
import { DeductionEntity, type DeductionRow } from '../funds.entity.ts';
import type { FundsAccount } from '../funds-account.ts';
import { allocationChange } from '../funds-change.ts';

/** An amount in centavos that is deducted for a source. */
export interface Deduction {
  readonly sourceId: string;
  /** The sale whose installments are used first. */
  readonly saleId: string | undefined;
  readonly amountMinor: bigint;
  /** Why, for the merchant; added to earlier reasons for the source. */
  readonly reason?: string | undefined;
}

/**
 * Deducts an amount from the sale's installments, then from free ones; what they do not cover becomes a debt. Returns the
 * debt.
 * @param earlier the deduction of the source so far, to which this one is added.
 */
export async function deductFrom(
  tx: TenantTransaction,
  account: FundsAccount,
  { sourceId, saleId, amountMinor, reason }: Deduction,
  earlier: DeductionRow | null,
): Promise<bigint> {
  const own = saleId === undefined ? [] : await account.installments.ofSale(saleId);
  const free = await account.installments.free(amountMinor);
  const { allocations, missingMinor } = allocateDeduction(amountMinor, own, free, account.today);
  if (earlier) {
    if (missingMinor > 0n) {
      // A debt dates from when it arose, not from a deduction that was covered or paid.
      const isNewDebt = earlier.openDebtMinor === 0n;
      if (isNewDebt) earlier.occurredAt = account.at;
      earlier.raisedAt = isNewDebt ? null : later(earlier.raisedAt ?? earlier.occurredAt, account.at);
    }
    earlier.amountMinor += amountMinor;
    earlier.openDebtMinor += missingMinor;
    earlier.reason = reasonsOf(earlier.reason, reason);
  } else {
    const openDebtMinor = missingMinor;
    tx.create(DeductionEntity, {
      sourceId,
      saleId,
      amountMinor,
      openDebtMinor,
      occurredAt: account.at,
      canceledDebtMinor: 0n,
      reversedAt: null,
      raisedAt: null,
      reason: reason ?? null,
    });
  }
  const deducted = { kind: 'DEDUCTION', sourceId, saleId, debtMinor: missingMinor } as const;
  await account.store(allocationChange(deducted, allocations, account.at));
  if (missingMinor > 0n) await notifyIfUncovered(tx, account);
  return missingMinor;
}

const REASON_SEPARATOR = '; ';
/** A caller that raises a deduction again and again does not make its reasons ever longer. */
const MAX_REASONS_LENGTH = 1_000;

/** The reasons for a source so far and one more, each once. */
function reasonsOf(earlier: string | null, reason: string | undefined): string | null {
  if (earlier === null || reason === undefined) return earlier ?? reason ?? null;
  // A reason may contain the separator itself.
  const separated = (text: string) => `${REASON_SEPARATOR}${text}${REASON_SEPARATOR}`;
  if (separated(earlier).includes(separated(reason))) return earlier;
  const all = `${earlier}${REASON_SEPARATOR}${reason}`;
  return all.length <= MAX_REASONS_LENGTH ? all : earlier;
}

/** Mails the merchant's staff if the balance does not cover the debts. */
export async function notifyIfUncovered(tx: TenantTransaction, account: FundsAccount): Promise<void> {
  // Debts in the sandbox do not matter enough for mail.
  if (tx.tenant.environment !== 'live' || (await account.availableMinor()) >= 0n) return;
  const { merchantId: subjectId } = tx.tenant;
  await tx.command(notifyContact.startCommand({ ...tx.tenant, kind: 'DEBTS', subjectId }));
}
