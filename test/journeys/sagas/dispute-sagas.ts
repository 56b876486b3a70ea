import { randomUUID } from 'node:crypto';
import { DisputeOutcome } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { merchantWithSale } from './refund-sagas.ts';
import { around, type Saga } from './saga.ts';

const disputeHold: Saga = {
  name: 'the hold of a dispute',
  steps: around('BlockFunds'),
  async prepare(world) {
    const merchant = await merchantWithSale(world);
    let disputeId = '';
    return {
      merchantId: merchant.merchantId,
      async start() {
        disputeId = await merchant.dispute(randomUUID(), merchant.saleId);
      },
      waitUntilDone: () => merchant.waitForBalance(0n, 1_000n),
      async finish() {
        const outcome = DisputeOutcome.WON;
        await merchant.refunds.closeDispute({ ...merchant.write(), disputeId, outcome });
        await merchant.waitForBalance(1_000n, 0n);
      },
    };
  },
};

const lostDispute: Saga = {
  name: 'a dispute that is lost',
  steps: around('UnblockFunds'),
  async prepare(world) {
    const merchant = await merchantWithSale(world);
    const { refunds, write } = merchant;
    const disputeId = await merchant.dispute(randomUUID(), merchant.saleId);
    await merchant.waitForBalance(0n, 1_000n);
    return {
      merchantId: merchant.merchantId,
      start: () => refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST }),
      waitUntilDone: () => merchant.waitForBalance(0n, 0n),
    };
  },
};

export const DISPUTE_SAGAS: readonly Saga[] = [disputeHold, lostDispute];
