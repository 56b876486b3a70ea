import type { HandlerContext } from '@connectrpc/connect';
import {
  BlockOutcome,
  BlockReason,
  type UnblockFundsRequest,
  type UnblockFundsResponseSchema,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../platform/enum-name.ts';
import { notFound } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { allocateBlocked } from './allocation.ts';
import { BlockEntity } from './funds.entity.ts';
import { saleInstallmentMessage } from './funds.message.ts';
import { FundsAccount } from './funds-account.ts';
import { type Block, isBlockedBy, isBlockedDifferently, removeBlock, withSaleBlocks } from './installment.ts';

/**
 * Lifts a block. Installments without another block are released or scheduled by their date; with the outcome
 * CONSUMED, everything that the block held is deducted first.
 */
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
    if (row === null) throw notFound('BLOCK_NOT_FOUND', 'no open block has this sale, reason and source');
    const held = (await account.installments.ofSale(saleId)).filter((each) => isBlockedBy(each, block));
    if (outcome === 'CONSUMED') {
      const allocations = allocateBlocked(held, block, account.today);
      await account.storeAllocations('CONSUMPTION', block.sourceId, allocations);
    }
    const changes = (await account.installments.ofSale(saleId))
      .map((before) => {
        const blocks = removeBlock(before.saleBlocks, block);
        return { before, after: withSaleBlocks(before, blocks, account.today) };
      })
      .filter(({ before, after }) => isBlockedDifferently(before, after));
    Object.assign(row, { closedAt, outcome });
    await account.store(changes);
    const heldIds = new Set(held.map(({ id }) => id));
    const resulting = (await account.installments.ofSale(saleId)).filter(({ id }) => heldIds.has(id));
    return { installments: resulting.map(saleInstallmentMessage) };
  });
}
