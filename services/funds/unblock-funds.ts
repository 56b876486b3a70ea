import type { HandlerContext } from '@connectrpc/connect';
import {
  BlockOutcome,
  BlockReason,
  type UnblockFundsRequest,
  type UnblockFundsResponseSchema,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../platform/enum-name.ts';
import { notFound } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { takeBlocked } from './allocation.ts';
import { BlockEntity } from './funds.entity.ts';
import { salePartMessage } from './funds.message.ts';
import { FundsAccount } from './funds-account.ts';
import { type Block, isBlockedBy, isHeldOtherwise, removeBlock, withSaleBlocks } from './installment.ts';

/** Lifts a block: what it alone held goes back by date; when lost, all that it held is deducted. */
export function unblockFunds(writes: Writes, request: UnblockFundsRequest, context: HandlerContext) {
  const closedAt = occurredAtOf(request, context);
  const saleId = request.saleId.toLowerCase();
  const outcome = enumName(BlockOutcome, request.outcome);
  const block: Block = {
    reason: enumName(BlockReason, request.reason),
    sourceId: request.sourceId.toLowerCase(),
  };
  return writes.run<typeof UnblockFundsResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, closedAt);
    const row = await tx.findOne(BlockEntity, { saleId, ...block, closedAt: null });
    if (row === null) throw notFound('BLOCK_NOT_FOUND', 'there is no such open block');
    const held = (await account.parts.ofSale(saleId)).filter((part) => isBlockedBy(part, block));
    if (outcome === 'CONSUMED') {
      await account.storeTakings('CONSUMPTION', block.sourceId, takeBlocked(held, block, account.today));
    }
    const changes = (await account.parts.ofSale(saleId))
      .map((before) => {
        const blocks = removeBlock(before.saleBlocks, block);
        return { before, after: withSaleBlocks(before, blocks, account.today) };
      })
      .filter(({ before, after }) => isHeldOtherwise(before, after));
    Object.assign(row, { closedAt, outcome });
    await account.store(changes);
    const heldIds = new Set(held.map((part) => part.id));
    const after = (await account.parts.ofSale(saleId)).filter((part) => heldIds.has(part.id));
    return { parts: after.map(salePartMessage) };
  });
}
