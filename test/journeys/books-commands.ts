import { randomUUID } from 'node:crypto';
import type { Client } from '@connectrpc/connect';
import type { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { PaymentMethod, PriceType, ProductType } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { BlockOutcome, BlockReason, SaleMethod } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  ApprovalMode,
  DisputeOutcome,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  type RefundCaseService,
  RefundDebitOutcome,
  RefundInitiator,
  ReviewDecision,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays } from '../../services/platform/civil-date.ts';
import { type CommandBuilder, noon, type Payment } from './command-builder.ts';

type Command = (builder: CommandBuilder) => () => Promise<unknown>;

/** Sends a request about a case, and remembers the case that is answered. */
type CaseCall = (
  client: Client<typeof RefundCaseService>,
  request: ReturnType<CommandBuilder['write']> & { refundCaseId: string },
  builder: CommandBuilder,
) => Promise<unknown>;
const ofCase =
  (call: CaseCall): Command =>
  (builder) => {
    const request = { ...builder.write(), refundCaseId: builder.id('cases') };
    return () => call(builder.clients.refunds, request, builder);
  };

const refundCommands: Record<string, Command> = {
  OpenRefundCase(builder) {
    const { account, clients, draw, on } = builder;
    const known = builder.own('payments');
    const payment: Payment =
      known && draw.choice % 3 > 0
        ? known
        : {
            id: randomUUID(),
            paidMinor: 4_000n,
            on,
            saleId: builder.own('sales')?.id,
            productId: draw.choice % 2 === 0 ? builder.own('products')?.id : undefined,
          };
    account.learn('payments', payment);
    const request = {
      ...builder.write(),
      paymentIntentId: payment.id,
      amountMinor: draw.amountMinor,
      reason: 'torn',
      paidAmountMinor: payment.paidMinor,
      paidAt: noon(payment.on),
      saleId: payment.saleId,
      initiator: builder.pick(RefundInitiator.MERCHANT, RefundInitiator.CUSTOMER, RefundInitiator.MERCHANT),
      approvalMode: draw.choice % 7 === 0 ? ApprovalMode.INSTANT : undefined,
      window: payment.productId
        ? { case: 'productId' as const, value: payment.productId }
        : { case: 'refundWindowDays' as const, value: 60 },
    };
    return async () => account.learn('cases', (await clients.refunds.openRefundCase(request)).refundCase);
  },
  DecideRefundCase: ofCase((refunds, request, builder) => {
    const decision = builder.pick(MerchantDecisionKind.APPROVED, MerchantDecisionKind.CONTESTED);
    return refunds.decideRefundCase({ ...request, decision });
  }),
  ExpireMerchantReview: ofCase((refunds, request) => refunds.expireMerchantReview(request)),
  AnnounceReviewDeadline: ofCase((refunds, request) => refunds.announceReviewDeadline(request)),
  ReviewRefundCase: ofCase((refunds, request, builder) => {
    const decision = builder.pick(ReviewDecision.APPROVE, ReviewDecision.APPROVE, ReviewDecision.REJECT);
    return refunds.reviewRefundCase({ ...request, decision, approvalMode: ApprovalMode.OPERATIONS });
  }),
  OpenDispute(builder) {
    const payment = builder.own('payments');
    const id = randomUUID();
    const paymentIntentId = payment?.id ?? randomUUID();
    const amountMinor = builder.draw.choice % 3 === 0 ? builder.draw.amountMinor : undefined;
    const dispute = { disputeId: id, paymentIntentId, saleId: payment?.saleId, amountMinor };
    const request = { ...builder.write(), ...dispute };
    return async () => {
      await builder.clients.refunds.openDispute(request);
      builder.account.learn('disputes', { id, saleId: payment?.saleId });
    };
  },
  CloseDispute(builder) {
    const outcome = builder.pick(DisputeOutcome.WON, DisputeOutcome.LOST);
    const amountMinor = builder.draw.choice % 3 === 2 ? builder.draw.amountMinor : undefined;
    const request = { ...builder.write(), disputeId: builder.id('disputes'), outcome, amountMinor };
    return () => builder.clients.refunds.closeDispute(request);
  },
  ReverseDispute(builder) {
    const request = { ...builder.write(), disputeId: builder.id('disputes') };
    return () => builder.clients.refunds.reverseDispute(request);
  },
  AddBlocker: ofCase((refunds, request, builder) =>
    refunds.addBlocker({ ...request, blocker: blockerOf(builder) }),
  ),
  ClearBlocker: ofCase((refunds, request, builder) =>
    refunds.clearBlocker({ ...request, blocker: blockerOf(builder) }),
  ),
  CancelRefundCase: ofCase((refunds, request) => refunds.cancelRefundCase(request)),
  StartRefund: ofCase((refunds, request) => refunds.startRefund(request)),
  BeginRefundExecution: ofCase((refunds, { occurredAt: _, ...request }, builder) =>
    refunds.beginRefundExecution({ ...request, execution: builder.pick(1, 2) }),
  ),
  RecordRefundDebit: ofCase((refunds, request, builder) => {
    const { DEBITED, INSUFFICIENT } = RefundDebitOutcome;
    return refunds.recordRefundDebit({
      ...request,
      outcome: builder.pick(DEBITED, INSUFFICIENT, DEBITED, INSUFFICIENT, DEBITED),
    });
  }),
  RecordProviderOutcome: ofCase((refunds, request, builder) => {
    const { SUBMITTED, SUCCEEDED, FAILED, REFUSED } = ProviderOutcome;
    const outcome = builder.pick(SUCCEEDED, FAILED, SUCCEEDED, REFUSED, SUBMITTED);
    return refunds.recordProviderOutcome({ ...request, outcome });
  }),
};

const blockerOf = (builder: CommandBuilder) =>
  builder.pick(
    RefundBlocker.KYC_NOT_APPROVED,
    RefundBlocker.PAYMENT_NOT_LIVE,
    RefundBlocker.MERCHANT_NOT_ACTIVE,
  );

const fundsCommands: Record<string, Command> = {
  RecordSale(builder) {
    const instant = builder.draw.choice % 3 === 0;
    const sale = { id: randomUUID(), grossMinor: builder.draw.amountMinor * 2n };
    const request = {
      ...builder.write(),
      saleId: sale.id,
      grossAmountMinor: sale.grossMinor,
      method: instant ? SaleMethod.INSTANT_TRANSFER : SaleMethod.CARD,
      feesAmountMinor: sale.grossMinor / BigInt(builder.draw.choice + 2),
      installments: instant ? 1 : 1 + (builder.draw.choice % 5),
    };
    return async () => {
      await builder.clients.funds.recordSale(request);
      builder.account.learn('sales', sale);
    };
  },
  ApplyDeduction(builder) {
    const { amountMinor, choice } = builder.draw;
    const saleId = choice % 2 === 0 ? builder.id('sales') : undefined;
    const sourceId = randomUUID();
    const request = { ...builder.write(), sourceId, amountMinor, saleId };
    return async () => {
      await builder.clients.funds.applyDeduction(request);
      builder.account.learn('deductions', { id: sourceId });
    };
  },
  ReverseDeduction(builder) {
    const deducted = builder.own('deductions')?.id;
    const sourceId = builder.pick(deducted, builder.own('holds')?.sourceId, deducted) ?? randomUUID();
    const request = { ...builder.write(), sourceId };
    return () => builder.clients.funds.reverseDeduction(request);
  },
  RecordDebtPayment(builder) {
    const amountMinor = builder.pick(builder.draw.amountMinor, 1n);
    const request = { ...builder.write(), paymentId: randomUUID(), amountMinor };
    return () => builder.clients.funds.recordDebtPayment(request);
  },
  BlockFunds(builder) {
    const dispute = builder.draw.choice % 2 === 0 ? builder.own('disputes') : undefined;
    const held = dispute ?? builder.own('cases');
    const sourceId = held?.id ?? randomUUID();
    const saleId = builder.draw.foreign ? builder.id('sales') : (held?.saleId ?? builder.id('sales'));
    // A sale that the tenant does not have may be recorded later.
    builder.missing = false;
    const reason = dispute ? BlockReason.HOLD_OR_DISPUTE : BlockReason.REFUND_IN_PROGRESS;
    const amountMinor = builder.draw.choice % 4 === 0 ? undefined : builder.draw.amountMinor;
    const once = builder.draw.choice % 3 === 0;
    const request = { ...builder.write(), saleId, sourceId, reason, amountMinor, once };
    return async () => {
      await builder.clients.funds.blockFunds(request);
      builder.account.learn('holds', { id: `${saleId} ${sourceId}`, saleId, sourceId, reason });
    };
  },
  UnblockFunds(builder) {
    const unknown = { saleId: randomUUID(), sourceId: randomUUID(), reason: BlockReason.HOLD_OR_DISPUTE };
    const { saleId, sourceId, reason } = builder.one('holds') ?? unknown;
    const outcome = builder.pick(BlockOutcome.RETURNED, BlockOutcome.CONSUMED);
    const deductUnmet = builder.draw.choice % 3 > 0;
    const request = { ...builder.write(), saleId, sourceId, reason, outcome, deductUnmet };
    return () => builder.clients.funds.unblockFunds(request);
  },
  DebitForRefund(builder) {
    const request = { ...builder.write(), ...refundOf(builder), execution: builder.pick(1, 2, 3) };
    return async () => {
      await builder.clients.funds.debitForRefund(request);
      builder.account.learn('debits', { id: request.refundCaseId });
    };
  },
  ReverseRefundDebit(builder) {
    const request = { ...builder.write(), refundCaseId: builder.id('debits') };
    return () => builder.clients.funds.reverseRefundDebit(request);
  },
  AwaitFunding(builder) {
    const requestedAt = builder.own('cases')?.requestedAt ?? noon(builder.on);
    const request = { ...builder.write(), ...refundOf(builder), execution: builder.pick(1, 2), requestedAt };
    builder.account.learn('waits', { id: request.refundCaseId });
    return () => builder.clients.funds.awaitFunding(request);
  },
  EndFundingWait(builder) {
    const { refundCaseId } = refundOf(builder);
    const { occurredAt: _, ...write } = builder.write();
    return () =>
      builder.clients.funds.endFundingWait({ ...write, refundCaseId, execution: builder.pick(1, 2) });
  },
  EndRefundExecutions(builder) {
    const { refundCaseId } = refundOf(builder);
    const { occurredAt: _, ...write } = builder.write();
    return () => builder.clients.funds.endRefundExecutions({ ...write, refundCaseId, execution: 1 });
  },
  FindCoveredRefund: (builder) => async () => {
    const { refundCaseId } = await builder.clients.funds.findCoveredRefund(builder.account.tenant);
    if (refundCaseId === undefined) return;
    if (!builder.account.known('waits').some(({ id }) => id === refundCaseId))
      throw new Error('another tenant waits');
  },
  ReleaseDueFunds(builder) {
    const { merchantId, environment } = builder.account.tenant;
    return () => builder.clients.funds.releaseDueFunds({ merchantId, environment, asOf: builder.on });
  },
};

/** The refund of a case of the tenant, or of no case, because funds does not know cases. */
function refundOf(builder: CommandBuilder) {
  const refundCase = builder.own('cases');
  const { id = randomUUID(), amountMinor = 1n } = refundCase ?? {};
  return { refundCaseId: id, amountMinor, saleId: refundCase?.saleId };
}

const ofAdvance =
  (
    call: (
      client: Client<typeof AdvanceService>,
      request: ReturnType<CommandBuilder['write']> & { advanceRequestId: string },
    ) => Promise<unknown>,
  ): Command =>
  (builder) => {
    const request = { ...builder.write(), advanceRequestId: builder.id('advances') };
    return () => call(builder.clients.advances, request);
  };

const advanceCommands: Record<string, Command> = {
  QuoteAdvance(builder) {
    const bounds = builder.pick({}, { maxAmountMinor: 4_000n }, { toDate: addDays(builder.on, 70) });
    const request = { ...builder.write(), ...bounds };
    return async () =>
      builder.account.learn('quotes', (await builder.clients.advances.quoteAdvance(request)).quote);
  },
  RequestAdvance(builder) {
    const request = { ...builder.write(), quoteId: builder.id('quotes') };
    return async () => {
      const { advanceRequest } = await builder.clients.advances.requestAdvance(request);
      builder.account.learn('advances', advanceRequest);
    };
  },
  ApproveAdvance: ofAdvance((advances, request) => advances.approveAdvance(request)),
  RefuseAdvance: ofAdvance((advances, request) => advances.refuseAdvance({ ...request, reason: 'no' })),
  ReleaseAdvance: ofAdvance((advances, request) => advances.releaseAdvance(request)),
  SettleAdvance: ofAdvance((advances, request) => advances.settleAdvance(request)),
  RecordPayoutAnswer(builder) {
    const providerPayoutId = builder.pick('po_1', 'po_2');
    const reason = 'the account is closed';
    const answer = builder.pick(
      { case: 'accepted', value: { providerPayoutId } } as const,
      { case: 'refused', value: reason } as const,
      { case: 'returned', value: { providerPayoutId, reason } } as const,
    );
    const request = { ...builder.write(), advanceRequestId: builder.id('advances'), answer };
    return () => builder.clients.advances.recordPayoutAnswer(request);
  },
  SetAdvanceRate(builder) {
    const request = { ...builder.write(), monthlyRateBps: builder.pick(300, undefined, 0, 4_000) };
    return () => builder.clients.advances.setAdvanceRate(request);
  },
};

const catalogCommands: Record<string, Command> = {
  CreateProduct(builder) {
    const kind = { productType: ProductType.ONE_TIME, refundWindowDays: 7 + builder.draw.choice };
    const request = { ...builder.write(), name: 'Course', ...kind };
    return async () =>
      builder.account.learn('products', (await builder.clients.products.createProduct(request)).product);
  },
  UpdateProduct(builder) {
    const updateMask = { paths: ['refund_window_days'] };
    const request = { ...builder.write(), productId: builder.id('products'), updateMask };
    return () => builder.clients.products.updateProduct({ ...request, refundWindowDays: 30 });
  },
  ActivateProduct(builder) {
    const request = { ...builder.write(), productId: builder.id('products') };
    return () => builder.clients.products.activateProduct(request);
  },
  ArchiveProduct(builder) {
    const request = { ...builder.write(), productId: builder.id('products') };
    return () => builder.clients.products.archiveProduct(request);
  },
  CreatePrice(builder) {
    const terms = { amountMinor: builder.draw.amountMinor, type: PriceType.ONE_TIME, maxInstallments: 3 };
    const request = { ...builder.write(), productId: builder.id('products'), ...terms };
    return async () =>
      builder.account.learn('prices', (await builder.clients.products.createPrice(request)).price);
  },
  RetirePrice(builder) {
    const request = { ...builder.write(), priceId: builder.id('prices') };
    return () => builder.clients.products.retirePrice(request);
  },
  CreateOffer(builder) {
    const page = { name: 'Launch', checkoutUrl: 'https://shop.example/launch', maxInstallments: 1 };
    const paymentMethods = [PaymentMethod.CARD];
    const request = { ...builder.write(), priceId: builder.id('prices'), ...page, paymentMethods };
    return async () =>
      builder.account.learn('offers', (await builder.clients.products.createOffer(request)).offer);
  },
  RetireOffer(builder) {
    const request = { ...builder.write(), offerId: builder.id('offers') };
    return () => builder.clients.products.retireOffer(request);
  },
};

/** The commands of each area, by the names of their RPCs. */
export const AREAS = {
  refunds: refundCommands,
  funds: fundsCommands,
  advances: advanceCommands,
  catalog: catalogCommands,
};
export const COMMANDS: Readonly<Record<string, Command>> = Object.assign({}, ...Object.values(AREAS));

/** Commands without an idempotency key. */
export const KEYLESS: ReadonlySet<string> = new Set(['ReleaseDueFunds', 'FindCoveredRefund']);
