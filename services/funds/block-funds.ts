import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type BlockFundsRequest,
  type BlockFundsResponseSchema,
  BlockReason,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../platform/enum-name.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { BlockEntity } from './funds.entity.ts';
import { saleInstallmentMessage } from './funds.message.ts';
import { FundsAccount } from './funds-account.ts';
import {
  addBlock,
  isBlockedBy,
  isBlockedDifferently,
  remainingMinor,
  withSaleBlocks,
} from './installment.ts';
import { requireSale } from './require-sale.ts';

/** Blocks a sale's installments for a reason and a source; with `once`, a block that was lifted is not repeated. */
export function blockFunds(writes: Writes, request: BlockFundsRequest, context: HandlerContext) {
  const openedAt = occurredAtOf(request, context);
  const saleId = request.saleId.toLowerCase();
  const block = { reason: enumName(BlockReason, request.reason), sourceId: request.sourceId.toLowerCase() };
  return writes.run<typeof BlockFundsResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, openedAt);
    await requireSale(tx, saleId);
    const installments = await account.installments.ofSale(saleId);
    if ((await tx.findOne(BlockEntity, { saleId, ...block, closedAt: null })) === null) {
      const wasLifted = request.once && (await tx.findOne(BlockEntity, { saleId, ...block })) !== null;
      if (wasLifted) return { blockedAmountMinor: 0n, installments: [] };
      tx.create(BlockEntity, { id: uuidv7(), saleId, ...block, openedAt });
    }
    const changes = installments
      .map((before) => {
        const blocks = addBlock(before.saleBlocks, block);
        return { before, after: withSaleBlocks(before, blocks, account.today) };
      })
      .filter(({ before, after }) => isBlockedDifferently(before, after));
    await account.store(changes);
    const resulting = await account.installments.ofSale(saleId);
    const blocked = resulting.filter((installment) => isBlockedBy(installment, block));
    return {
      blockedAmountMinor: blocked.reduce((sum, installment) => sum + remainingMinor(installment), 0n),
      installments: blocked.map(saleInstallmentMessage),
    };
  });
}
