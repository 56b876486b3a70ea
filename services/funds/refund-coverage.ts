import { availableMinor } from './allocation.ts';
import type { FundsAccount } from './funds-account.ts';
import type { Block, Part } from './installment.ts';

/** What a refund may use: the parts of its own sale, those its block holds among them. */
export interface RefundCover {
  readonly own: readonly Part[];
  readonly block: Block;
  readonly availableMinor: bigint;
}

/** What the account has for a refund case at this moment. */
export async function coverOf(
  account: FundsAccount,
  refundCaseId: string,
  saleId: string | undefined,
): Promise<RefundCover> {
  const block: Block = { reason: 'REFUND_IN_PROGRESS', sourceId: refundCaseId };
  const own = saleId === undefined ? [] : await account.parts.ofSale(saleId);
  const released = await account.releasedMinor();
  const available = availableMinor(released, await account.openDebtsMinor(), own, block);
  return { own, block, availableMinor: available };
}
