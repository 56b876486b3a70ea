import { randomUUID } from 'node:crypto';
import { Code, createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { BlockReason, FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  ProviderOutcome,
  type RefundCase,
  RefundCaseService,
  RefundInitiator,
  ReviewDecision,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { endWorkflowType, workflowType } from '../../../services/contracts/refunds/refund-hold.contract.ts';
import { createRefundActivities } from '../../../workflows/refunds/refund.activities.ts';
import { WORKER_CALLER } from '../../../workflows/worker-caller.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { sqlOf } from '../../support/sql.ts';
import { eventually, merchantOf, sharedRefundHarness } from './refund-harness.ts';

const { SUBMITTED, SUCCEEDED, FAILED } = ProviderOutcome;
const { REFUND_IN_PROGRESS, HOLD_OR_DISPUTE } = BlockReason;
const REFUND = [REFUND_IN_PROGRESS];
const DISPUTE = [HOLD_OR_DISPUTE];

const fixture = sharedRefundHarness();

const merchant = () => merchantOf(fixture().harness);

describe("a refund case holds its amount of its sale's funds", () => {
  it('from its opening until it succeeds, to the cent, and holds nothing else of the sale', async () => {
    const { funds, approved, start, record, becomes, rows } = merchant();
    // 333.34, 333.33 and 333.33 less fees of 0.34, 0.33 and 0.33, in a month, two and three.
    const { saleId } = await funds.sell({ gross: 100_000n, fees: 100n, installments: 3 });
    const id = await approved(33_350n, saleId);
    // The last installment first, then 0.50 of the one before it.
    const held = [{ left: 50n, held: REFUND }, { left: 33_250n }, { left: 33_300n, held: REFUND }];
    await eventually(async () => expect(await rows()).toEqual([{ left: 33_300n }, ...held]));
    await start(id);
    await becomes(id, Status.PROCESSING);
    const debited = [{ left: 33_300n }, { left: 33_250n }, { left: 0n }];
    expect(await rows()).toEqual(debited);
    await record(id, SUBMITTED, SUCCEEDED);
    await eventually(async () => expect(await fixture().resultOf(`refund-hold-end-${id}`)).toBe('ENDED'));
    expect(await rows()).toEqual(debited);
  });

  it('until it is canceled, which reverses a debit that was made for it by hand', async () => {
    const { refunds, write, approved, funds, earn } = merchant();
    const saleId = await earn(1_000n);
    const refundCaseId = await approved(400n, saleId);
    await funds.debit(refundCaseId, 400n, saleId);
    expect((await funds.balance()).availableAmountMinor + (await funds.balance()).blockedAmountMinor).toBe(
      600n,
    );
    await refunds.cancelRefundCase({ ...write(), refundCaseId });
    await eventually(async () => expect((await funds.balance()).availableAmountMinor).toBe(1_000n));
    const late = funds.debit(refundCaseId, 400n, saleId);
    await expectRefusal(late, Code.FailedPrecondition, 'REFUND_DEBIT_REVERSED');
  });

  it.each(['canceled', 'rejected', 'failed'] as const)(
    'until it is %s, and then all is as before',
    async (end) => {
      const { refunds, write, open, start, record, becomes, rows, earn } = merchant();
      const saleId = await earn(1_000n);
      const opening = { saleId, initiator: RefundInitiator.MERCHANT, amountMinor: 400n };
      const { id: refundCaseId, paymentIntentId } = await open(opening);
      const rest = { left: 600n, released: true };
      await eventually(async () => expect(await rows()).toEqual([{ left: 400n, held: REFUND }, rest]));
      if (end === 'canceled') await refunds.cancelRefundCase({ ...write(), refundCaseId });
      if (end === 'rejected') {
        await refunds.openDispute({ ...write(), disputeId: randomUUID(), paymentIntentId });
        const review = { decision: ReviewDecision.REJECT, approvalMode: 2 };
        await eventually(async () =>
          expect(await rows()).toEqual([{ left: 1_000n, held: [...DISPUTE, ...REFUND] }]),
        );
        await refunds.reviewRefundCase({ ...write(), refundCaseId, ...review });
        await eventually(async () => expect(await rows()).toEqual([{ left: 1_000n, held: DISPUTE }]));
        return;
      }
      if (end === 'failed') {
        await start(refundCaseId);
        await becomes(refundCaseId, Status.PROCESSING);
        expect(await rows()).toEqual([rest]);
        await record(refundCaseId, FAILED);
      }
      await eventually(async () => expect(await rows()).toEqual([{ left: 1_000n, released: true }]));
    },
  );

  it('until it fails, and then does not hold again what is returned', async () => {
    const { approved, start, record, becomes, earn } = merchant();
    const id = await approved(400n, await earn(1_000n));
    await eventually(async () => expect(await fixture().resultOf(`refund-hold-${id}`)).toBe('HELD'));
    await start(id);
    await becomes(id, Status.PROCESSING);
    await record(id, FAILED);
    await eventually(async () => {
      expect(await fixture().resultOf(`refund-hold-end-${id}`)).toBe('ENDED');
      expect(await fixture().resultOf(`refund-reversal-${id}`)).toBeUndefined();
    });
    const movements = await sqlOf<{ kind: string }>(
      fixture().harness,
      `select kind from funds.movement where source_id = '${id}' order by id`,
    );
    expect(movements.map(({ kind }) => kind)).toEqual(['BLOCK', 'REFUND', 'REFUND_REVERSAL']);
  });

  it('no longer after it has succeeded, even if the provider returns it late: the reversal restores everything', async () => {
    const { funds, approved, start, record, becomes, rows, earn } = merchant();
    const saleId = await earn(1_000n);
    const id = await approved(1_000n, saleId);
    await start(id);
    await becomes(id, Status.PROCESSING);
    expect(await rows()).toEqual([{ left: 0n }]);
    await record(id, SUCCEEDED);
    await eventually(async () => expect(await fixture().resultOf(`refund-hold-end-${id}`)).toBe('ENDED'));
    await record(id, FAILED);
    await eventually(async () => expect(await rows()).toEqual([{ left: 1_000n, released: true }]));
    await eventually(async () => expect(await fixture().resultOf(`refund-reversal-${id}`)).toBeUndefined());
    expect(await rows()).toEqual([{ left: 1_000n, released: true }]);
    expect((await funds.balance()).availableAmountMinor).toBe(1_000n);
  });

  it('with another case of the same sale: each holds its own, until it has ended', async () => {
    const { refunds, write, approved, start, becomes, record, rows, earn } = merchant();
    const saleId = await earn(1_000n);
    const [one, other] = [await approved(300n, saleId), await approved(400n, saleId)];
    const rest = { left: 300n, released: true };
    await eventually(async () => expect(await rows()).toEqual([{ left: 700n, held: REFUND }, rest]));
    await start(one);
    await becomes(one, Status.PROCESSING);
    expect(await rows()).toEqual([{ left: 400n, held: REFUND }, rest]);
    await record(one, SUCCEEDED);
    await eventually(async () => expect(await fixture().resultOf(`refund-hold-end-${one}`)).toBe('ENDED'));
    expect(await rows()).toEqual([{ left: 400n, held: REFUND }, rest]);
    await start(other);
    await becomes(other, Status.PROCESSING);
    await record(other, SUCCEEDED);
    expect(await rows()).toEqual([rest]);
    const third = await approved(100n, saleId);
    const both = [
      { left: 100n, held: REFUND },
      { left: 200n, released: true },
    ];
    await eventually(async () => expect(await rows()).toEqual(both));
    await refunds.cancelRefundCase({ ...write(), refundCaseId: third });
    await eventually(async () => expect(await rows()).toEqual([rest]));
  });

  it('except for installments reserved for an advance, which fill what is missing once they are freed', async () => {
    const { refunds, write, funds, approved, rows } = merchant();
    const { saleId } = await funds.sell({ gross: 300n, installments: 3 });
    const { installments } = await funds.advanceable();
    const [paid, freed] = [randomUUID(), randomUUID()];
    await funds.reserve(installments.slice(0, 1), paid);
    await funds.settle(paid);
    await funds.reserve((await funds.advanceable()).installments.slice(0, 1), freed);
    const id = await approved(150n, saleId);
    const last = { left: 100n, held: REFUND };
    await eventually(async () => expect(await rows()).toEqual([{ left: 0n }, { left: 100n }, last]));
    await funds.free(freed);
    expect(await rows()).toEqual([{ left: 0n }, { left: 50n, held: REFUND }, { left: 50n }, last]);
    await refunds.cancelRefundCase({ ...write(), refundCaseId: id });
    await eventually(async () =>
      expect(await rows()).toEqual([{ left: 0n }, { left: 100n }, { left: 100n }]),
    );
  });

  it('never again after its end, however late and often the commands arrive', async () => {
    const { refunds, write, tenant, approved, rows, earn } = merchant();
    const saleId = await earn(500n);
    const id = await approved(100n, saleId);
    await refunds.cancelRefundCase({ ...write(), refundCaseId: id });
    await eventually(async () => expect(await fixture().resultOf(`refund-hold-end-${id}`)).toBe('ENDED'));
    const input = { merchantId: tenant.merchantId, environment: 'live', refundCaseId: id } as const;
    expect(await fixture().again(workflowType, `refund-hold-${id}`, input)).toBe('ENDED');
    // A hold that read the case before it was closed, and blocks afterwards. Once its idempotency key is forgotten, it blocks nothing either.
    const stale = holdsOf({ status: Status.APPROVED_FOR_EXECUTION, saleId, id, amountMinor: 100n });
    await stale.holdForRefund(input);
    expect(await rows()).toEqual([{ left: 500n, released: true }]);
    const age = "update platform.idempotency_record set created_at = now() - interval '2 days'";
    await sqlOf(fixture().harness, age);
    await stale.holdForRefund(input);
    expect(await rows()).toEqual([{ left: 500n, released: true }]);
    expect(await fixture().again(endWorkflowType, `refund-hold-end-${id}`, input)).toBe('ENDED');
    expect(await rows()).toEqual([{ left: 500n, released: true }]);
    const blockEvents = await sqlOf<{ type: string }>(
      fixture().harness,
      `select type from webhooks.event where merchant_id = $1 and type like 'funds.%blocked.v1'`,
      [tenant.merchantId],
    );
    expect(blockEvents.length).toBeLessThanOrEqual(2);
  });

  it('from the moment that its sale is recorded, if it was opened before', async () => {
    const { approved, start, becomes, earn, funds, write, rows, record } = merchant();
    await earn(1_000n);
    const saleId = randomUUID();
    const id = await approved(400n, saleId);
    await eventually(async () => expect(await fixture().resultOf(`refund-hold-${id}`)).toBe('HELD'));
    expect(await rows()).toEqual([{ left: 1_000n, released: true }]);
    const sale = { saleId, method: 1, grossAmountMinor: 500n, feesAmountMinor: 0n, installments: 1 };
    await funds.client.recordSale({ ...write(), ...sale });
    expect(await rows()).toEqual([
      { left: 400n, held: REFUND },
      { left: 1_100n, released: true },
    ]);
    await start(id);
    await becomes(id, Status.PROCESSING);
    await record(id, SUCCEEDED);
    await eventually(async () => expect(await fixture().resultOf(`refund-hold-end-${id}`)).toBe('ENDED'));
    expect(await rows()).toEqual([{ left: 1_100n, released: true }]);
  });

  it('not if its sale is never recorded: the refund continues without a hold', async () => {
    const { approved, start, becomes, earn, rows, record } = merchant();
    await earn(1_000n);
    const id = await approved(400n, randomUUID());
    await start(id);
    await becomes(id, Status.PROCESSING);
    await record(id, SUCCEEDED);
    await eventually(async () => expect(await fixture().resultOf(`refund-hold-end-${id}`)).toBe('ENDED'));
    expect(await rows()).toEqual([{ left: 600n, released: true }]);
  });

  it('not at all if its end arrives before its start', async () => {
    const { refunds, write, tenant, earn, rows, approved } = merchant();
    const saleId = await earn(500n);
    const id = await approved(100n);
    await refunds.cancelRefundCase({ ...write(), refundCaseId: id });
    const input = { merchantId: tenant.merchantId, environment: 'live', refundCaseId: id } as const;
    const ended = holdsOf({ status: Status.CANCELED, saleId, id, amountMinor: 100n, executions: 0 });
    expect(await ended.endHoldForRefund(input)).toBe('ENDED');
    await holdsOf({ status: Status.APPROVED_FOR_EXECUTION, saleId, id, amountMinor: 100n }).holdForRefund(
      input,
    );
    expect(await rows()).toEqual([{ left: 500n, released: true }]);
  });

  it('as long as it is open, even if its end is run by hand', async () => {
    const { tenant, approved, rows, earn } = merchant();
    const id = await approved(100n, await earn(500n));
    const held = [
      { left: 100n, held: REFUND },
      { left: 400n, released: true },
    ];
    await eventually(async () => expect(await rows()).toEqual(held));
    const input = { merchantId: tenant.merchantId, environment: 'live', refundCaseId: id } as const;
    expect(await fixture().again(endWorkflowType, `refund-hold-end-${id}`, input)).toBe('HELD');
    expect(await rows()).toEqual(held);
  });

  /** The worker's activities, as of a case that has changed since they read it. */
  function holdsOf(read: Partial<RefundCase>) {
    const transport = fixture().harness.services.transportFor(WORKER_CALLER);
    const refunds = createClient(RefundCaseService, transport);
    const stale = {
      ...refunds,
      getRefundCase: async () => ({ refundCase: read }),
    } as unknown as typeof refunds;
    return createRefundActivities({ refunds: stale, funds: createClient(FundsService, transport) });
  }
});
