import { randomUUID } from 'node:crypto';
import { DisputeOutcome } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { earner } from './refund-sagas.ts';
import type { Saga } from './saga.ts';

const disputeHold: Saga = {
  name: 'the hold of a dispute',
  steps: ['before BlockFunds', 'within BlockFunds', 'after BlockFunds'],
  async prepare(world) {
    const merchant = await earner(world);
    let disputeId = '';
    return {
      merchantId: merchant.merchantId,
      async setOff() {
        disputeId = await merchant.dispute(randomUUID(), merchant.saleId);
      },
      isDone: () => merchant.has(0n, 1_000n),
      async end() {
        const outcome = DisputeOutcome.WON;
        await merchant.refunds.closeDispute({ ...merchant.write(), disputeId, outcome });
        await merchant.has(1_000n, 0n);
      },
    };
  },
};

const lostDispute: Saga = {
  name: 'a dispute that is lost',
  steps: ['before UnblockFunds', 'within UnblockFunds', 'after UnblockFunds'],
  async prepare(world) {
    const merchant = await earner(world);
    const { refunds, write } = merchant;
    const disputeId = await merchant.dispute(randomUUID(), merchant.saleId);
    await merchant.has(0n, 1_000n);
    return {
      merchantId: merchant.merchantId,
      setOff: () => refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST }),
      isDone: () => merchant.has(0n, 0n),
    };
  },
};

export const DISPUTE_SAGAS: readonly Saga[] = [disputeHold, lostDispute];
