import { randomUUID } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import {
  PaymentMethod,
  PriceType,
  ProductService,
  ProductType,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import {
  BlockOutcome,
  BlockReason,
  FundsService,
  SaleMethod,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  ApprovalMode,
  DisputeOutcome,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  type RefundCase,
  RefundCaseService,
  RefundDebitOutcome,
  RefundInitiator,
  ReviewDecision,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays } from '../../services/platform/civil-date.ts';
import { newKey, newTenant } from '../support/harness.ts';

/** The random choices of a command. */
export interface Draw {
  readonly name: string;
  readonly account: number;
  /** Whether it names an object of another tenant. */
  readonly foreign: boolean;
  /** Whether it is sent twice at once with its key, if no other command runs. */
  readonly twice: boolean;
  /** Which of the existing objects, counted from the newest. */
  readonly at: number;
  readonly choice: number;
  readonly amountMinor: bigint;
}

interface Payment {
  readonly id: string;
  readonly paidMinor: bigint;
  readonly on: string;
  readonly saleId: string | undefined;
  readonly productId: string | undefined;
}

interface Known {
  readonly sales: { readonly id: string; readonly grossMinor: bigint };
  readonly payments: Payment;
  readonly cases: RefundCase;
  readonly disputes: { readonly id: string; readonly saleId: string | undefined };
  readonly holds: Hold;
  readonly waits: { readonly id: string };
  readonly debits: { readonly id: string };
  readonly quotes: { readonly id: string };
  readonly advances: { readonly id: string };
  readonly products: { readonly id: string };
  readonly prices: { readonly id: string };
  readonly offers: { readonly id: string };
}
interface Hold {
  readonly id: string;
  readonly saleId: string;
  readonly sourceId: string;
  readonly reason: BlockReason;
}

/** All services as the commands call them. */
export const clientsOf = (transport: Transport) => ({
  refunds: createClient(RefundCaseService, transport),
  funds: createClient(FundsService, transport),
  advances: createClient(AdvanceService, transport),
  products: createClient(ProductService, transport),
});
export type Clients = ReturnType<typeof clientsOf>;

/** A merchant in an environment, with what responses have revealed about it. */
export class Account {
  readonly tenant: ReturnType<typeof newTenant>;
  readonly #known = new Map<keyof Known, Map<string, unknown>>();

  constructor(tenant = newTenant()) {
    this.tenant = tenant;
  }

  known<K extends keyof Known>(kind: K): Known[K][] {
    return [...(this.#known.get(kind)?.values() ?? [])] as Known[K][];
  }

  learn<K extends keyof Known>(kind: K, one: Known[K] | undefined): void {
    const ones = this.#known.get(kind) ?? new Map<string, unknown>();
    if (one) this.#known.set(kind, ones.set(one.id, one));
  }
}

/** A command to be sent, which picks the objects that it names from those that exist. */
export class Hand {
  readonly account: Account;
  readonly clients: Clients;
  readonly draw: Draw;
  readonly on: string;
  readonly #other: Account;
  /** Whether it names something that its tenant does not have. */
  missing = false;

  constructor(clients: Clients, account: Account, other: Account, on: string, draw: Draw) {
    this.clients = clients;
    this.account = account;
    this.draw = draw;
    this.on = on;
    this.#other = other;
  }

  write() {
    return { ...this.account.tenant, idempotencyKey: newKey(), occurredAt: noon(this.on) };
  }

  /** An object of its own tenant, if there is any. */
  own<K extends keyof Known>(kind: K): Known[K] | undefined {
    return newestFirst(this.account.known(kind), this.draw.at);
  }

  /** An object of its own tenant. If it is of another tenant or undefined, the command must get NOT_FOUND. */
  one<K extends keyof Known>(kind: K): Known[K] | undefined {
    const found = this.draw.foreign ? newestFirst(this.#other.known(kind), this.draw.at) : this.own(kind);
    if (this.draw.foreign || !found) this.missing = true;
    return found;
  }

  id(kind: keyof Known): string {
    return this.one(kind)?.id ?? randomUUID();
  }

  pick<T>(...of: T[]): T {
    return of[this.draw.choice % of.length]!;
  }
}

const newestFirst = <T>(all: readonly T[], index: number): T | undefined => all.at(-1 - (index % all.length));
const noon = (on: string) => timestampFromDate(new Date(`${on}T15:00:00Z`));

type Command = (hand: Hand) => () => Promise<unknown>;

/** Sends a request about a case, and remembers the case that is answered. */
type CaseCall = (
  client: Client<typeof RefundCaseService>,
  of: ReturnType<Hand['write']> & { refundCaseId: string },
  hand: Hand,
) => Promise<unknown>;
const ofCase =
  (call: CaseCall): Command =>
  (hand) => {
    const of = { ...hand.write(), refundCaseId: hand.id('cases') };
    return () => call(hand.clients.refunds, of, hand);
  };

const refundCommands: Record<string, Command> = {
  OpenRefundCase(hand) {
    const { account, clients, draw, on } = hand;
    const known = hand.own('payments');
    const payment: Payment =
      known && draw.choice % 3 > 0
        ? known
        : {
            id: randomUUID(),
            paidMinor: 4_000n,
            on,
            saleId: hand.own('sales')?.id,
            productId: draw.choice % 2 === 0 ? hand.own('products')?.id : undefined,
          };
    account.learn('payments', payment);
    const request = {
      ...hand.write(),
      paymentIntentId: payment.id,
      amountMinor: draw.amountMinor,
      reason: 'torn',
      paidAmountMinor: payment.paidMinor,
      paidAt: noon(payment.on),
      saleId: payment.saleId,
      initiator: hand.pick(RefundInitiator.MERCHANT, RefundInitiator.CUSTOMER, RefundInitiator.MERCHANT),
      approvalMode: draw.choice % 7 === 0 ? ApprovalMode.INSTANT : undefined,
      window: payment.productId
        ? { case: 'productId' as const, value: payment.productId }
        : { case: 'refundWindowDays' as const, value: 60 },
    };
    return async () => account.learn('cases', (await clients.refunds.openRefundCase(request)).refundCase);
  },
  DecideRefundCase: ofCase((refunds, of, hand) => {
    const decision = hand.pick(MerchantDecisionKind.APPROVED, MerchantDecisionKind.CONTESTED);
    return refunds.decideRefundCase({ ...of, decision });
  }),
  ExpireMerchantReview: ofCase((refunds, of) => refunds.expireMerchantReview(of)),
  AnnounceReviewDeadline: ofCase((refunds, of) => refunds.announceReviewDeadline(of)),
  ReviewRefundCase: ofCase((refunds, of, hand) => {
    const decision = hand.pick(ReviewDecision.APPROVE, ReviewDecision.APPROVE, ReviewDecision.REJECT);
    return refunds.reviewRefundCase({ ...of, decision, approvalMode: ApprovalMode.OPERATIONS });
  }),
  OpenDispute(hand) {
    const payment = hand.own('payments');
    const id = randomUUID();
    const paymentIntentId = payment?.id ?? randomUUID();
    const request = { ...hand.write(), disputeId: id, paymentIntentId, saleId: payment?.saleId };
    return async () => {
      await hand.clients.refunds.openDispute(request);
      hand.account.learn('disputes', { id, saleId: payment?.saleId });
    };
  },
  CloseDispute(hand) {
    const outcome = hand.pick(DisputeOutcome.WON, DisputeOutcome.LOST);
    const request = { ...hand.write(), disputeId: hand.id('disputes'), outcome };
    return () => hand.clients.refunds.closeDispute(request);
  },
  AddBlocker: ofCase((refunds, of, hand) => refunds.addBlocker({ ...of, blocker: blockerOf(hand) })),
  ClearBlocker: ofCase((refunds, of, hand) => refunds.clearBlocker({ ...of, blocker: blockerOf(hand) })),
  CancelRefundCase: ofCase((refunds, of) => refunds.cancelRefundCase(of)),
  StartRefund: ofCase((refunds, of) => refunds.startRefund(of)),
  BeginRefundExecution: ofCase((refunds, { occurredAt: _, ...of }, hand) =>
    refunds.beginRefundExecution({ ...of, execution: hand.pick(1, 2) }),
  ),
  RecordRefundDebit: ofCase((refunds, of, hand) => {
    const { DEBITED, INSUFFICIENT } = RefundDebitOutcome;
    return refunds.recordRefundDebit({
      ...of,
      outcome: hand.pick(DEBITED, INSUFFICIENT, DEBITED, INSUFFICIENT, DEBITED),
    });
  }),
  RecordProviderOutcome: ofCase((refunds, of, hand) => {
    const { SUBMITTED, SUCCEEDED, FAILED } = ProviderOutcome;
    const outcome = hand.pick(SUCCEEDED, FAILED, SUCCEEDED, FAILED, SUBMITTED);
    return refunds.recordProviderOutcome({ ...of, outcome });
  }),
};

const blockerOf = (hand: Hand) =>
  hand.pick(
    RefundBlocker.KYC_NOT_APPROVED,
    RefundBlocker.PAYMENT_NOT_LIVE,
    RefundBlocker.MERCHANT_NOT_ACTIVE,
  );

const fundsCommands: Record<string, Command> = {
  RecordSale(hand) {
    const instant = hand.draw.choice % 3 === 0;
    const sale = { id: randomUUID(), grossMinor: hand.draw.amountMinor * 2n };
    const request = {
      ...hand.write(),
      saleId: sale.id,
      grossAmountMinor: sale.grossMinor,
      method: instant ? SaleMethod.INSTANT_TRANSFER : SaleMethod.CARD,
      feesAmountMinor: sale.grossMinor / BigInt(hand.draw.choice + 2),
      installments: instant ? 1 : 1 + (hand.draw.choice % 5),
    };
    return async () => {
      await hand.clients.funds.recordSale(request);
      hand.account.learn('sales', sale);
    };
  },
  ApplyDeduction(hand) {
    const { amountMinor, choice } = hand.draw;
    const saleId = choice % 2 === 0 ? hand.id('sales') : undefined;
    const request = { ...hand.write(), sourceId: randomUUID(), amountMinor, saleId };
    return () => hand.clients.funds.applyDeduction(request);
  },
  BlockFunds(hand) {
    const dispute = hand.draw.choice % 2 === 0 ? hand.own('disputes') : undefined;
    const held = dispute ?? hand.own('cases');
    const sourceId = held?.id ?? randomUUID();
    const saleId = hand.draw.foreign ? hand.id('sales') : (held?.saleId ?? hand.id('sales'));
    // A sale that the tenant does not have may be recorded later.
    hand.missing = false;
    const reason = dispute ? BlockReason.HOLD_OR_DISPUTE : BlockReason.REFUND_IN_PROGRESS;
    const amountMinor = hand.draw.choice % 4 === 0 ? undefined : hand.draw.amountMinor;
    const once = hand.draw.choice % 3 === 0;
    const request = { ...hand.write(), saleId, sourceId, reason, amountMinor, once };
    return async () => {
      await hand.clients.funds.blockFunds(request);
      hand.account.learn('holds', { id: `${saleId} ${sourceId}`, saleId, sourceId, reason });
    };
  },
  UnblockFunds(hand) {
    const unknown = { saleId: randomUUID(), sourceId: randomUUID(), reason: BlockReason.HOLD_OR_DISPUTE };
    const { saleId, sourceId, reason } = hand.one('holds') ?? unknown;
    const outcome = hand.pick(BlockOutcome.RETURNED, BlockOutcome.CONSUMED);
    const request = { ...hand.write(), saleId, sourceId, reason, outcome };
    return () => hand.clients.funds.unblockFunds(request);
  },
  DebitForRefund(hand) {
    const request = { ...hand.write(), ...refundOf(hand), execution: hand.pick(1, 2, 3) };
    return async () => {
      await hand.clients.funds.debitForRefund(request);
      hand.account.learn('debits', { id: request.refundCaseId });
    };
  },
  ReverseRefundDebit(hand) {
    const request = { ...hand.write(), refundCaseId: hand.id('debits') };
    return () => hand.clients.funds.reverseRefundDebit(request);
  },
  AwaitFunding(hand) {
    const requestedAt = hand.own('cases')?.requestedAt ?? noon(hand.on);
    const request = { ...hand.write(), ...refundOf(hand), execution: hand.pick(1, 2), requestedAt };
    hand.account.learn('waits', { id: request.refundCaseId });
    return () => hand.clients.funds.awaitFunding(request);
  },
  EndFundingWait(hand) {
    const { refundCaseId } = refundOf(hand);
    const { occurredAt: _, ...write } = hand.write();
    return () => hand.clients.funds.endFundingWait({ ...write, refundCaseId, execution: hand.pick(1, 2) });
  },
  EndRefundExecutions(hand) {
    const { refundCaseId } = refundOf(hand);
    const { occurredAt: _, ...write } = hand.write();
    return () => hand.clients.funds.endRefundExecutions({ ...write, refundCaseId, execution: 1 });
  },
  FindCoveredRefund: (hand) => async () => {
    const { refundCaseId } = await hand.clients.funds.findCoveredRefund(hand.account.tenant);
    if (refundCaseId === undefined) return;
    if (!hand.account.known('waits').some(({ id }) => id === refundCaseId))
      throw new Error('another tenant waits');
  },
  ReleaseDueFunds(hand) {
    const { merchantId, environment } = hand.account.tenant;
    return () => hand.clients.funds.releaseDueFunds({ merchantId, environment, asOf: hand.on });
  },
};

/** The refund of a case of the tenant, or of no case, because funds does not know cases. */
function refundOf(hand: Hand) {
  const refundCase = hand.own('cases');
  const { id = randomUUID(), amountMinor = 1n } = refundCase ?? {};
  return { refundCaseId: id, amountMinor, saleId: refundCase?.saleId };
}

const ofAdvance =
  (
    call: (
      client: Client<typeof AdvanceService>,
      of: ReturnType<Hand['write']> & { advanceRequestId: string },
    ) => Promise<unknown>,
  ): Command =>
  (hand) => {
    const of = { ...hand.write(), advanceRequestId: hand.id('advances') };
    return () => call(hand.clients.advances, of);
  };

const advanceCommands: Record<string, Command> = {
  QuoteAdvance(hand) {
    const bounds = hand.pick({}, { maxAmountMinor: 4_000n }, { toDate: addDays(hand.on, 70) });
    const request = { ...hand.write(), ...bounds };
    return async () =>
      hand.account.learn('quotes', (await hand.clients.advances.quoteAdvance(request)).quote);
  },
  RequestAdvance(hand) {
    const request = { ...hand.write(), quoteId: hand.id('quotes') };
    return async () => {
      const { advanceRequest } = await hand.clients.advances.requestAdvance(request);
      hand.account.learn('advances', advanceRequest);
    };
  },
  ApproveAdvance: ofAdvance((advances, of) => advances.approveAdvance(of)),
  RefuseAdvance: ofAdvance((advances, of) => advances.refuseAdvance({ ...of, reason: 'no' })),
  ReleaseAdvance: ofAdvance((advances, of) => advances.releaseAdvance(of)),
  SettleAdvance: ofAdvance((advances, of) => advances.settleAdvance(of)),
  SetAdvanceRate(hand) {
    const request = { ...hand.write(), monthlyRateBps: hand.pick(300, undefined, 0, 4_000) };
    return () => hand.clients.advances.setAdvanceRate(request);
  },
};

const catalogCommands: Record<string, Command> = {
  CreateProduct(hand) {
    const kind = { productType: ProductType.ONE_TIME, refundWindowDays: 7 + hand.draw.choice };
    const request = { ...hand.write(), name: 'Course', ...kind };
    return async () =>
      hand.account.learn('products', (await hand.clients.products.createProduct(request)).product);
  },
  UpdateProduct(hand) {
    const updateMask = { paths: ['refund_window_days'] };
    const request = { ...hand.write(), productId: hand.id('products'), updateMask };
    return () => hand.clients.products.updateProduct({ ...request, refundWindowDays: 30 });
  },
  ActivateProduct(hand) {
    const request = { ...hand.write(), productId: hand.id('products') };
    return () => hand.clients.products.activateProduct(request);
  },
  ArchiveProduct(hand) {
    const request = { ...hand.write(), productId: hand.id('products') };
    return () => hand.clients.products.archiveProduct(request);
  },
  CreatePrice(hand) {
    const terms = { amountMinor: hand.draw.amountMinor, type: PriceType.ONE_TIME, maxInstallments: 3 };
    const request = { ...hand.write(), productId: hand.id('products'), ...terms };
    return async () => hand.account.learn('prices', (await hand.clients.products.createPrice(request)).price);
  },
  RetirePrice(hand) {
    const request = { ...hand.write(), priceId: hand.id('prices') };
    return () => hand.clients.products.retirePrice(request);
  },
  CreateOffer(hand) {
    const page = { name: 'Launch', checkoutUrl: 'https://shop.example/launch', maxInstallments: 1 };
    const paymentMethods = [PaymentMethod.CARD];
    const request = { ...hand.write(), priceId: hand.id('prices'), ...page, paymentMethods };
    return async () => hand.account.learn('offers', (await hand.clients.products.createOffer(request)).offer);
  },
  RetireOffer(hand) {
    const request = { ...hand.write(), offerId: hand.id('offers') };
    return () => hand.clients.products.retireOffer(request);
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
