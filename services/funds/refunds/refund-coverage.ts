import { least } from '../../platform/amounts.ts';
import { availableMinor } from '../allocation.ts';
import type { FundsAccount } from '../funds-account.ts';
import type { Block, Installment } from '../sales/installment.ts';
import { refundLimitMinor } from '../sales/sale-rest.ts';

/** The funds that a refund may use. */
export interface RefundCoverage {
  /** The installments of the refunded sale. */
  readonly saleInstallments: readonly Installment[];
  /** The block that holds some of them for the refund case. */
  readonly block: Block;
  /** What of the account's balance the refund may use; no more than others have left of its sale. */
  readonly availableMinor: bigint;
}

/** The account's funds for a refund case at this moment. */
export async function coverageFor(
  account: FundsAccount,
  refundCaseId: string,
  saleId: string | undefined,
): Promise<RefundCoverage> {
  const block: Block = { reason: 'REFUND_IN_PROGRESS', sourceId: refundCaseId };
  const saleInstallments = saleId === undefined ? [] : await account.installments.ofSale(saleId);
  const releasedMinor = await account.releasedMinor();
  const openDebtsMinor = await account.openDebtsMinor();
  const balanceMinor = availableMinor(releasedMinor, openDebtsMinor, saleInstallments, block);
  const limitMinor = saleId === undefined ? undefined : refundLimitMinor(await account.holds.saleOf(saleId));
  return { saleInstallments, block, availableMinor: least(balanceMinor, limitMinor ?? balanceMinor) };
}
