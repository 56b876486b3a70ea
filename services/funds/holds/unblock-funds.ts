import type { HandlerContext } from '@connectrpc/connect';
import {
  BlockOutcome,
  BlockReason,
  type UnblockFundsRequest,
  type UnblockFundsResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { enumName } from '../../platform/enum-name.ts';
import { failedPrecondition, notFound } from '../../platform/errors.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { AccountWrites } from '../account-writes.ts';
import { allocateBlocked } from '../allocation.ts';
import { deductFrom } from '../deductions/deduction.ts';
import { BlockEntity, type BlockRow, DeductionEntity } from '../funds.entity.ts';
import { saleInstallmentMessage } from '../funds.message.ts';
import { FundsAccount } from '../funds-account.ts';
import { allocationChange } from '../funds-change.ts';
import { type Block, type Installment, isHeldBy, unhold } from '../sales/installment.ts';
import { blockCause, movementOf } from '../statement/movement.ts';
import { heldMinor } from './holds.ts';

/**
 * Lifts a block. Installments that no other block holds are released or scheduled by their date; with the outcome
 * CONSUMED, what the block holds is deducted instead and, with `deductUnmet`, also the part that it could not hold.
 */
export function unblockFunds(writes: AccountWrites, request: UnblockFundsRequest, context: HandlerContext) {
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
    const isLost = outcome === 'CONSUMED';
    if (isLost) await fixLostAmount(account, row, request.lostAmountMinor);
    const held = (await account.installments.ofSale(saleId)).filter((each) => isHeldBy(each, block));
    const heldAmountMinor = heldMinor(held, block);
    const unmetAmountMinor = await account.holds.unmetMinorOf(saleId, block, heldAmountMinor);
    const deductsUnmet = isLost && request.deductUnmet;
    if (deductsUnmet && unmetAmountMinor === undefined) throw saleNotRecorded();
    Object.assign(row, { closedAt, outcome });
    if (isLost) await consume(account, row, held);
    else await release(account, row, held);
    if (deductsUnmet) await deductUnmet(tx, account, row, unmetAmountMinor ?? 0n);
    tx.logStep('funds were unblocked', { saleId, ...block, outcome, heldMinor: String(heldAmountMinor) });
    const heldIds = new Set(held.map(({ id }) => id));
    const resulting = (await account.installments.ofSale(saleId)).filter(({ id }) => heldIds.has(id));
    return { installments: resulting.map(saleInstallmentMessage), heldAmountMinor, unmetAmountMinor };
  });
}

/**
 * Fixes the amount of a lost dispute of the rest of a sale. Otherwise refunds debited or reversed around its end, and
 * disputes that end before it, would change the amount, and the merchant would pay twice or not at all.
 */
async function fixLostAmount(
  account: FundsAccount,
  block: BlockRow,
  lostMinor: bigint | undefined,
): Promise<void> {
  if (lostMinor === undefined || block.reason !== 'HOLD_OR_DISPUTE' || block.amountMinor !== null) return;
  const { capturedMinor } = await account.holds.saleOf(block.saleId);
  if (capturedMinor === undefined) return;
  block.amountMinor = lostMinor;
  await account.store({ saleIds: [block.saleId] });
}

/** Deducts all that the block holds. */
async function consume(account: FundsAccount, block: BlockRow, held: readonly Installment[]): Promise<void> {
  const { sourceId, saleId } = block;
  const cause = blockCause('CONSUMPTION', block, saleId);
  const allocations = allocateBlocked(held, block, account.today);
  const consumption = { kind: 'CONSUMPTION', sourceId, saleId } as const;
  await account.store(allocationChange(consumption, allocations, account.at, cause));
}

/** Returns all that the block holds, and no other block, to the merchant. */
async function release(account: FundsAccount, block: BlockRow, held: readonly Installment[]): Promise<void> {
  const installments = held.map((before) => ({ before, after: unhold(before, block, account.today) }));
  const cause = blockCause('UNBLOCK', block, block.saleId);
  const movements = movementOf(cause, installments, account.at);
  await account.store({ installments, movements, saleIds: [block.saleId] });
}

/** Deducts what the sale's installments could not hold: the customer received the full amount of a lost dispute. */
async function deductUnmet(
  tx: TenantTransaction,
  account: FundsAccount,
  { sourceId, saleId }: BlockRow,
  amountMinor: bigint,
): Promise<void> {
  if (amountMinor <= 0n || (await tx.findOne(DeductionEntity, { sourceId }))) return;
  await deductFrom(tx, account, { sourceId, saleId, amountMinor }, null);
}

const saleNotRecorded = () =>
  failedPrecondition(
    'SALE_NOT_RECORDED',
    'how much is left of a sale is not known before the sale is recorded',
  );
