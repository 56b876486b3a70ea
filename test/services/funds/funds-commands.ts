import { ConnectError } from '@connectrpc/connect';
import fc from 'fast-check';
import { BlockOutcome, BlockReason, SaleMethod } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { QuotedInstallment } from '../../../services/funds/advances/reservation.ts';
import { BLOCK_REASONS } from '../../../services/funds/sales/installment.ts';
import { errorInfoOf } from '../../../services/platform/rpc/connect-errors.ts';
import type { AccountModel, Outcome } from './account-model.ts';
import type { FundsCaller } from './funds-caller.ts';

/** The situation in which commands run. */
export interface Situation {
  readonly caller: FundsCaller;
  /** The date of the commands. */
  readonly on: string;
  /** The requested sales, including refused ones. */
  readonly sales: string[];
  readonly model: AccountModel;
  /** Installments as quoted earlier, with their versions in the service and in the model. */
  readonly quote: readonly { readonly service: QuotedInstallment; readonly model: QuotedInstallment }[];
}

/** A command with all values: the call, and the same change of the model. */
export interface Bound {
  readonly name: string;
  /** Whether it has an idempotency key. */
  readonly hasKey: boolean;
  call(): Promise<Outcome>;
  play(model: AccountModel): Outcome;
}

/** A command on an account in any state. A refused one must change nothing. */
export interface FundsCommand {
  readonly text: string;
  bind(situation: Situation): Bound;
}

/** The same in every run, so that a seed stands for one sequence. */
const idOf = (kind: number, n: number) =>
  `${String(kind).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Two of these on one day exceed the exact range. */
const HUGE = 9_007_199_254_740_991n;
const amount = fc.oneof(
  { weight: 40, arbitrary: fc.bigInt(1n, 2_000n) },
  { weight: 10, arbitrary: fc.bigInt(1n, 20n) },
  { weight: 1, arbitrary: fc.constant(HUGE) },
);
const installments = fc.oneof(
  { weight: 30, arbitrary: fc.integer({ min: 1, max: 4 }) },
  { weight: 6, arbitrary: fc.integer({ min: 5, max: 12 }) },
  { weight: 1, arbitrary: fc.integer({ min: 13, max: 99 }) },
);
const pick = fc.nat(100);
const few = fc.nat(3);
const reason = fc.constantFrom(...BLOCK_REASONS);
/** Mostly an existing one, sometimes any. */
const oneOf = <T>(known: readonly T[], index: number, any: T) =>
  index % 5 === 4 ? any : (known[index % known.length] ?? any);
const saleAt = ({ sales }: Situation, index: number) => sales[index % sales.length] ?? idOf(9, index);

/** The outcome of a call: its figures, or the reason of its refusal; anything else is a bug. */
async function outcomeOf(call: Promise<readonly unknown[]>): Promise<Outcome> {
  try {
    return ['OK', ...(await call)].join(' ');
  } catch (error) {
    const reason = error instanceof ConnectError ? errorInfoOf(error)?.reason : undefined;
    if (reason === undefined) throw error;
    return reason;
  }
}

function command<T>(
  name: string,
  given: fc.Arbitrary<T>,
  bind: (
    situation: Situation,
    given: T,
  ) => { call(): Promise<readonly unknown[]>; play(model: AccountModel): Outcome },
): fc.Arbitrary<FundsCommand> {
  return given.map((values) => {
    const text = `${name}(${fc.stringify(values)})`;
    return {
      text,
      bind(situation) {
        const { call, play } = bind(situation, values);
        return { name, call: () => outcomeOf(call()), play, hasKey: name !== 'releaseDue' };
      },
      [fc.toStringMethod]: () => text,
    };
  });
}

const sell = command(
  'sell',
  fc.tuple(amount, fc.nat(100), installments, fc.boolean()),
  ({ caller, on, sales }, [grossMinor, percent, count, instant]) => {
    const saleId = idOf(1, sales.length + 1);
    sales.push(saleId);
    const method = instant ? ('INSTANT_TRANSFER' as const) : ('CARD' as const);
    const feesMinor = (grossMinor * BigInt(percent)) / 100n;
    const sale = { method, grossMinor, feesMinor, installments: instant ? 1 : count };
    const amounts = { grossAmountMinor: grossMinor, feesAmountMinor: feesMinor };
    const request = { ...caller.write(on), ...amounts, saleId, installments: sale.installments };
    let installmentIds: string[] | undefined;
    return {
      async call() {
        const { installments } = await caller.client.recordSale({ ...request, method: SaleMethod[method] });
        // A part that an earlier block has split off has an id derived from its sale, as in the model.
        installmentIds = installments.filter(({ part }) => part === 1).map(({ id }) => id);
        return [];
      },
      play: (model) => model.sell(sale, saleId, installmentIds),
    };
  },
);

/** A sale that was requested before, perhaps at the same time, with other amounts and another key. */
const sellAgain = command('sellAgain', fc.tuple(amount, pick), (situation, [grossMinor, index]) => {
  const saleId = situation.sales.at(-1 - (index % 2)) ?? saleAt(situation, index);
  const sale = { method: 'CARD' as const, grossMinor, feesMinor: 0n, installments: 2 };
  const amounts = { grossAmountMinor: grossMinor, feesAmountMinor: 0n };
  const request = { ...situation.caller.write(situation.on), ...amounts, saleId, installments: 2 };
  let installmentIds: string[] | undefined;
  return {
    async call() {
      const recorded = await situation.caller.client.recordSale({ ...request, method: SaleMethod.CARD });
      installmentIds = recorded.installments.filter(({ part }) => part === 1).map(({ id }) => id);
      return [];
    },
    play: (model) => model.sell(sale, saleId, installmentIds),
  };
});

/** For its own source, or one that also blocks. */
const deduct = command(
  'deduct',
  fc.tuple(fc.nat(15), amount, fc.option(pick), fc.boolean()),
  (situation, [source, amountMinor, index, raise]) => {
    const { caller, on } = situation;
    const sourceId = source < 4 ? idOf(3, source) : idOf(2, source);
    const saleId = index === null ? undefined : saleAt(situation, index);
    const request = { ...caller.write(on), sourceId, amountMinor, saleId, raise };
    return {
      async call() {
        const answer = await caller.client.applyDeduction(request);
        return [answer.deductedAmountMinor, answer.debtAmountMinor];
      },
      play: (model) => model.deduct(sourceId, saleId, amountMinor, raise),
    };
  },
);

/** Of a source that has deducted, blocks, or neither. */
const reverseDeduction = command('reverseDeduction', fc.nat(9), ({ caller, on }, source) => {
  const sourceId = source < 4 ? idOf(3, source) : idOf(2, source);
  const request = { ...caller.write(on), sourceId };
  return {
    async call() {
      const answer = await caller.client.reverseDeduction(request);
      return [answer.restoredAmountMinor, answer.canceledDebtAmountMinor];
    },
    play: (model) => model.reverseDeduction(sourceId),
  };
});

const payDebts = command(
  'payDebts',
  fc.tuple(fc.nat(12), amount),
  ({ caller, on }, [payment, amountMinor]) => {
    const paymentId = idOf(8, payment);
    const request = { ...caller.write(on), paymentId, amountMinor };
    return {
      async call() {
        const { openDebtsAmountMinor } = await caller.client.recordDebtPayment(request);
        return [openDebtsAmountMinor];
      },
      play: (model) => model.payDebts(paymentId, amountMinor),
    };
  },
);

/** Mostly a portion of a sale, sometimes all of it. */
const portion = fc.option(
  fc.oneof({ weight: 5, arbitrary: fc.bigInt(1n, 300n) }, { weight: 1, arbitrary: amount }),
  {
    freq: 3,
  },
);

/** Blocks an existing sale or the next one. */
const block = command(
  'block',
  fc.tuple(pick, reason, few, portion, fc.boolean(), fc.nat(12)),
  (situation, [index, why, source, amountMinor, once, when]) => {
    const { caller, on, sales } = situation;
    const saleId = when === 0 ? idOf(1, sales.length + 1) : saleAt(situation, index);
    const sourceId = idOf(3, source);
    const of = { saleId, sourceId, reason: BlockReason[why] };
    const request = { ...caller.write(on), ...of, amountMinor: amountMinor ?? undefined, once };
    return {
      async call() {
        const held = await caller.client.blockFunds(request);
        return [held.blockedAmountMinor, `${held.unmetAmountMinor}`];
      },
      play: (model) => model.block(saleId, { reason: why, sourceId }, amountMinor, once),
    };
  },
);

const unblock = command(
  'unblock',
  fc.tuple(pick, reason, few, fc.boolean(), fc.boolean(), fc.option(fc.bigInt(0n, 300n), { nil: undefined })),
  (situation, [index, why, source, lost, deductUnmet, lostMinor]) => {
    const { caller, on, model } = situation;
    const any = { saleId: saleAt(situation, index), reason: why, sourceId: idOf(3, source) };
    const { saleId, reason, sourceId } = oneOf<typeof any>(model.openBlocks(), index, any);
    const outcome = lost ? BlockOutcome.CONSUMED : BlockOutcome.RETURNED;
    const end = {
      reason: BlockReason[reason],
      outcome,
      deductUnmet,
      lostAmountMinor: lostMinor,
    };
    const request = { ...caller.write(on), saleId, sourceId, ...end };
    return {
      async call() {
        const { installments, ...held } = await caller.client.unblockFunds(request);
        return [installments.length, held.heldAmountMinor, `${held.unmetAmountMinor}`];
      },
      play: (model) => model.unblock(saleId, { reason, sourceId }, { lost, deductUnmet, lostMinor }),
    };
  },
);

const reserve = command(
  'reserve',
  fc.tuple(fc.nat(9), fc.array(pick, { minLength: 1, maxLength: 4 })),
  ({ caller, on, quote }, [id, picks]) => {
    const advanceRequestId = idOf(4, id);
    const unknown = { installmentId: idOf(9, id), version: 1n };
    const picked = [...new Set(picks.map((index) => index % (quote.length || 1)))];
    const quoted = picked.map((index) => quote[index] ?? { service: unknown, model: unknown });
    const request = {
      ...caller.write(on),
      advanceRequestId,
      installments: quoted.map(({ service }) => service),
    };
    const quotedByModel = quoted.map(({ model }) => model);
    return {
      call: async () => [(await caller.client.reserveForAdvance(request)).reservedAmountMinor],
      play: (model) => model.reserve(advanceRequestId, quotedByModel),
    };
  },
);

const free = command('free', pick, ({ caller, on, model }, index) => {
  const advanceRequestId = oneOf(model.held(), index, idOf(4, index % 4));
  const request = { ...caller.write(on), advanceRequestId };
  return {
    call: () => caller.client.freeReservation(request).then(() => []),
    play: (model) => model.free(advanceRequestId),
  };
});

const settle = command('settle', pick, ({ caller, on, model }, index) => {
  const advanceRequestId = oneOf(model.held(), index, idOf(4, index % 4));
  const request = { ...caller.write(on), advanceRequestId };
  return {
    call: async () => [(await caller.client.settleReservation(request)).advancedAmountMinor],
    play: (model) => model.settle(advanceRequestId),
  };
});

/** A refund's block has the case's id, so what it holds is available to the case. */
const debit = command(
  'debit',
  fc.tuple(few, amount, fc.option(pick)),
  (situation, [id, amountMinor, index]) => {
    const { caller, on } = situation;
    const refundCaseId = idOf(3, id);
    const saleId = index === null ? undefined : saleAt(situation, index);
    const request = { ...caller.write(on), refundCaseId, amountMinor, saleId };
    return {
      call: () => caller.client.debitForRefund(request).then(() => []),
      play: (model) => model.debit(refundCaseId, saleId, amountMinor),
    };
  },
);

const reverse = command('reverse', pick, ({ caller, on, model }, index) => {
  const refundCaseId = oneOf(model.debited(), index, idOf(3, index % 4));
  const request = { ...caller.write(on), refundCaseId };
  return {
    call: () => caller.client.reverseRefundDebit(request).then(() => []),
    play: (model) => model.reverse(refundCaseId),
  };
});

const releaseDue = command('releaseDue', fc.constant([]), ({ caller, on }) => ({
  async call() {
    const { releasedInstallments, releasedAmountMinor } = await caller.client.releaseDueFunds({
      ...caller.tenant,
      asOf: on,
    });
    return [releasedInstallments, releasedAmountMinor];
  },
  play: (model) => model.releaseDue(),
}));

export const COMMAND_NAMES = [
  'sell',
  'sellAgain',
  'deduct',
  'reverseDeduction',
  'payDebts',
  'block',
  'unblock',
  'reserve',
  'free',
  'settle',
  'debit',
  'reverse',
  'releaseDue',
];

const weighted = (weight: number, ...arbitraries: fc.Arbitrary<FundsCommand>[]) =>
  arbitraries.map((arbitrary) => ({ weight, arbitrary }));

/** Every command of an account. */
export const fundsCommand: fc.Arbitrary<FundsCommand> = fc.oneof(
  ...weighted(6, sell),
  ...weighted(5, block),
  ...weighted(3, unblock, reserve, debit, settle),
  ...weighted(2, sellAgain, deduct, reverseDeduction, payDebts, reverse),
  ...weighted(1, free, releaseDue),
);
