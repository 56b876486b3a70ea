import fc from 'fast-check';

export const DAYS = 30;

/** How a sale was paid. EARLIER: by card, 30 days before its day, so that it falls due on its day. */
export type SaleKind = 'INSTANT' | 'CARD' | 'EARLIER';

/** A refund case of a payment, and what people decide about it. Delays are in days. */
export interface RefundPlan {
  readonly after: number;
  readonly share: 1 | 2 | 10;
  /** The last digits of the amount, which decide what the provider does with it. */
  readonly ending: bigint;
  readonly initiator: 'MERCHANT' | 'CUSTOMER';
  readonly decision: 'APPROVED' | 'CONTESTED' | 'NONE';
  readonly review: 'APPROVE' | 'REJECT' | 'NONE';
  readonly blocker: 'NONE' | 'ADDED' | 'CLEARED';
  readonly canceled: boolean;
  readonly delay: number;
}

export interface DisputePlan {
  readonly after: number;
  readonly outcome: 'WON' | 'LOST' | 'OPEN';
  readonly delay: number;
}

/** A payment, its sale, and what follows. */
export interface PaymentPlan {
  readonly day: number;
  readonly kind: SaleKind;
  readonly installments: number;
  readonly grossMinor: bigint;
  /**
   * The number of days from the payment to the recording of the sale, so that refunds and disputes may come first.
   */
  readonly recordedAfter: number;
  readonly refunds: readonly RefundPlan[];
  readonly dispute: DisputePlan | null;
}

/** A sale by card, and an advance on it. */
export interface AdvancePlan {
  readonly day: number;
  readonly grossMinor: bigint;
  /** Its final state, if nothing prevents it. */
  readonly outcome: 'QUOTED' | 'REQUESTED' | 'APPROVED' | 'REFUSED' | 'RELEASED';
}

/** A month of one merchant. */
export interface MerchantPlan {
  readonly payments: readonly PaymentPlan[];
  readonly advances: readonly AdvancePlan[];
  /** A refund without a sale, of more than the balance. */
  readonly overdraft: RefundPlan | null;
  /** The rate of its advances in basis points a month; null for the default. */
  readonly rateBps: number | null;
}

const days = (max: number) => fc.integer({ min: 0, max });
const day = fc.integer({ min: 1, max: DAYS });
const oftenZero = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0n) },
  { weight: 3, arbitrary: fc.bigInt({ min: 1n, max: 5n }) },
);

const refund: fc.Arbitrary<RefundPlan> = fc.record({
  after: days(3),
  share: fc.constantFrom(1, 2, 10),
  ending: oftenZero,
  initiator: fc.constantFrom('MERCHANT', 'CUSTOMER'),
  decision: fc.constantFrom('APPROVED', 'APPROVED', 'CONTESTED', 'NONE'),
  review: fc.constantFrom('APPROVE', 'APPROVE', 'REJECT', 'NONE'),
  blocker: fc.constantFrom('NONE', 'NONE', 'CLEARED', 'ADDED'),
  canceled: fc.constantFrom(false, false, false, true),
  delay: days(2),
});

const dispute: fc.Arbitrary<DisputePlan> = fc.record({
  after: days(4),
  outcome: fc.constantFrom('WON', 'LOST', 'OPEN'),
  delay: days(4),
});

const payment: fc.Arbitrary<PaymentPlan> = fc.record({
  day,
  kind: fc.constantFrom('INSTANT', 'INSTANT', 'CARD', 'CARD', 'EARLIER'),
  installments: fc.integer({ min: 1, max: 3 }),
  grossMinor: fc.bigInt({ min: 20n, max: 300n }).map((hundreds) => hundreds * 100n),
  recordedAfter: fc.constantFrom(0, 0, 0, 5),
  refunds: fc.oneof(
    { weight: 4, arbitrary: fc.array(refund, { maxLength: 1, size: 'max' }) },
    { weight: 1, arbitrary: fc.array(refund, { minLength: 2, maxLength: 2 }) },
  ),
  dispute: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: dispute }),
});

const advance: fc.Arbitrary<AdvancePlan> = fc.record({
  day,
  grossMinor: fc.bigInt({ min: 2_000n, max: 30_000n }),
  outcome: fc.constantFrom('QUOTED', 'REQUESTED', 'APPROVED', 'REFUSED', 'RELEASED', 'RELEASED'),
});

const merchant: fc.Arbitrary<MerchantPlan> = fc.record({
  payments: fc.array(payment, { minLength: 1, maxLength: 2, size: 'max' }),
  advances: fc.array(advance, { maxLength: 1, size: 'max' }),
  overdraft: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: refund }),
  rateBps: fc.constantFrom(null, null, 0),
});

/** The months of this many merchants; the same for the same seed. */
export const planMonth = (seed: number, merchants: number): MerchantPlan[] =>
  fc.sample(fc.noBias(merchant), { seed, numRuns: merchants });

const PLAIN: RefundPlan = {
  after: 0,
  share: 2,
  ending: 0n,
  initiator: 'CUSTOMER',
  decision: 'NONE',
  review: 'NONE',
  blocker: 'NONE',
  canceled: false,
  delay: 0,
};
/** A case for each status that a case can end the month in. */
const ONE_OF_EACH: readonly RefundPlan[] = [
  PLAIN,
  { ...PLAIN, decision: 'CONTESTED' },
  { ...PLAIN, decision: 'CONTESTED', review: 'REJECT' },
  { ...PLAIN, decision: 'APPROVED', blocker: 'ADDED' },
  { ...PLAIN, canceled: true },
  { ...PLAIN, initiator: 'MERCHANT' },
  { ...PLAIN, initiator: 'MERCHANT', ending: 1n },
  { ...PLAIN, initiator: 'MERCHANT', ending: 4n },
];

const PLAIN_PAYMENT: Omit<PaymentPlan, 'refunds' | 'dispute'> = {
  day: 28,
  kind: 'INSTANT',
  installments: 1,
  grossMinor: 10_000n,
  recordedAfter: 0,
};

/** A month with a case in every status, an open and a lost dispute, and a payout that the provider never accepts. */
export const EVERY_STATUS: MerchantPlan = {
  payments: [
    ...ONE_OF_EACH.map((refund) => ({ ...PLAIN_PAYMENT, refunds: [refund], dispute: null })),
    ...(['OPEN', 'LOST'] as const).map((outcome) => ({
      ...PLAIN_PAYMENT,
      refunds: [],
      dispute: { after: 0, outcome, delay: 0 },
    })),
  ],
  // Minus its fees of 5 % it ends in 02.
  advances: [{ day: 21, grossMinor: 10_002n, outcome: 'RELEASED' }],
  overdraft: PLAIN,
  rateBps: 0,
};
