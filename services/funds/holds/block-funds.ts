import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type BlockFundsRequest,
  type BlockFundsResponseSchema,
  BlockReason,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { notifyWeekly } from '../../contracts/accounts/notify-weekly.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { enumName } from '../../platform/enum-name.ts';
import { alreadyExists } from '../../platform/errors.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { AccountWrites } from '../account-writes.ts';
import { notifyIfUncovered } from '../deductions/deduction.ts';
import { BlockEntity } from '../funds.entity.ts';
import { saleInstallmentMessage } from '../funds.message.ts';
import { FundsAccount } from '../funds-account.ts';
import { type Block, isHeldBy } from '../sales/installment.ts';
import { heldMinor } from './holds.ts';

/**
 * Holds an amount of a sale, by default the rest of it, for a reason and a source. If the sale lacks some of the
 * amount, or is not recorded yet, the rest is held once it becomes available. With `once`, a block that was lifted is
 * not made again.
 */
export function blockFunds(writes: AccountWrites, request: BlockFundsRequest, context: HandlerContext) {
  const openedAt = occurredAtOf(request, context);
  const saleId = request.saleId.toLowerCase();
  const block = { reason: enumName(BlockReason, request.reason), sourceId: request.sourceId.toLowerCase() };
  const amountMinor = request.amountMinor ?? null;
  return writes.run<typeof BlockFundsResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, openedAt);
    const open = await tx.findOne(BlockEntity, { saleId, ...block, closedAt: null });
    if (open !== null) requireSameAmount(open, amountMinor);
    else {
      if (request.once && (await wasLifted(tx, saleId, block))) return { unmetAmountMinor: 0n };
      if (block.reason === 'KYC_PENDING')
        await notifyWeekly(tx, { kind: 'FUNDS_HELD', beganAt: openedAt, others: MAILED_HOLDS });
      const didCoverDebts = await coversDebts(account);
      tx.create(BlockEntity, { id: uuidv7(), saleId, ...block, amountMinor, openedAt });
      await account.store({ saleIds: [saleId] });
      // What is held now may have covered them.
      if (didCoverDebts) await notifyIfUncovered(tx, account);
      tx.logStep('funds were blocked', { saleId, ...block, amountMinor: amountMinor && String(amountMinor) });
    }
    const installments = await account.installments.ofSale(saleId);
    const blockedAmountMinor = heldMinor(installments, block);
    return {
      blockedAmountMinor,
      unmetAmountMinor: await account.holds.unmetMinorOf(saleId, block, blockedAmountMinor),
      installments: installments.filter((each) => isHeldBy(each, block)).map(saleInstallmentMessage),
    };
  });
}

/** The starts of the open holds that may have sent a mail: those recorded within a day, by the time in their UUIDv7. */
const MAILED_HOLDS = `
  select opened_at as began_at from funds.block
   where merchant_id = :merchantId and environment = :environment and reason = 'KYC_PENDING' and closed_at is null
     and uuid_extract_timestamp(id) - opened_at <= interval '1 day'`;

function requireSameAmount(open: { amountMinor?: bigint | null }, amountMinor: bigint | null): void {
  if ((open.amountMinor ?? null) === amountMinor) return;
  throw alreadyExists('BLOCK_AMOUNT_DIFFERS', 'the block is open with another amount', {
    amountMinor: String(open.amountMinor ?? ''),
  });
}

/** Whether the balance covers debts. */
async function coversDebts(account: FundsAccount): Promise<boolean> {
  return (await account.openDebtsMinor()) > 0n && (await account.availableMinor()) >= 0n;
}

async function wasLifted(tx: TenantTransaction, saleId: string, block: Block): Promise<boolean> {
  return (await tx.findOne(BlockEntity, { saleId, ...block })) !== null;
}
