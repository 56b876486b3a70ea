import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type BlockFundsRequest,
  type BlockFundsResponseSchema,
  BlockReason,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../platform/enum-name.ts';
import { occurredAtOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { BlockEntity } from './funds.entity.ts';
import { salePartMessage } from './funds.message.ts';
import { FundsAccount } from './funds-account.ts';
import { addBlock, isBlockedBy, isHeldOtherwise, leftMinor, withSaleBlocks } from './installment.ts';
import { requireSale } from './require-sale.ts';

/** Blocks a sale's parts for a reason and a source; `once` has a block that was lifted not come again. */
export function blockFunds(writes: Writes, request: BlockFundsRequest, context: HandlerContext) {
  const openedAt = occurredAtOf(request, context);
  const saleId = request.saleId.toLowerCase();
  const block = { reason: enumName(BlockReason, request.reason), sourceId: request.sourceId.toLowerCase() };
  return writes.run<typeof BlockFundsResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, openedAt);
    await requireSale(tx, saleId);
    const before = await account.parts.ofSale(saleId);
    if ((await tx.findOne(BlockEntity, { saleId, ...block, closedAt: null })) === null) {
      const wasLifted = request.once && (await tx.findOne(BlockEntity, { saleId, ...block })) !== null;
      if (wasLifted) return { blockedAmountMinor: 0n, parts: [] };
      tx.create(BlockEntity, { id: uuidv7(), saleId, ...block, openedAt });
    }
    const changes = before
      .map((part) => {
        const blocks = addBlock(part.saleBlocks, block);
        return { before: part, after: withSaleBlocks(part, blocks, account.today) };
      })
      .filter((change) => isHeldOtherwise(change.before, change.after));
    await account.store(changes);
    const held = (await account.parts.ofSale(saleId)).filter((part) => isBlockedBy(part, block));
    const blockedAmountMinor = held.reduce((sum, part) => sum + leftMinor(part), 0n);
    return { blockedAmountMinor, parts: held.map(salePartMessage) };
  });
}
