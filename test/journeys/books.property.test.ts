import { env } from 'node:process';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  type AdvanceRequest,
  AdvanceRequestStatus,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { type Product, ProductStatus } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { type FundsRelease, FundsReleaseStatus } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type Dispute,
  DisputeOutcome,
  MerchantDecisionKind,
  RefundBlocker,
  type RefundCase,
  RefundCaseStatus,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays } from '../../services/platform/civil-date.ts';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { allItems } from '../../services/platform/rpc/pages-of.ts';
import { newTenant, startHarness } from '../support/harness.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { AREAS, COMMANDS, KEYLESS } from './books-commands.ts';
import { Account, CommandBuilder, clientsOf, type Draw } from './command-builder.ts';

const limits = { REFUND_FREQUENCY_LIMIT_24H: '8', REFUND_VOLUME_LIMIT_24H: '15000' };
const harness = await startHarness({ SERVICES: 'refunds,funds,advances,catalog', ...limits });
afterAll(() => harness.close());

const SEQUENCES = 8;
/** Additional sequences, tried while a command has not succeeded yet. */
const MORE_SEQUENCES = 4;
const MAX_COMMANDS = 60;
/** More than any command has alternatives. */
const CHOICES = 42;
const START = '2020-06-01';

/** The domain's rules: the states that a case may reach from each state. */
const REFUND_MOVES = {
  NONE: ['MERCHANT_REVIEW', 'SERVICE_REVIEW', 'APPROVED_FOR_EXECUTION'],
  MERCHANT_REVIEW: ['APPROVED_FOR_EXECUTION', 'SERVICE_REVIEW', 'CANCELED'],
  SERVICE_REVIEW: ['APPROVED_FOR_EXECUTION', 'REJECTED', 'CANCELED'],
  APPROVED_FOR_EXECUTION: ['PROCESSING', 'FUNDING_REQUIRED', 'SERVICE_REVIEW', 'CANCELED'],
  FUNDING_REQUIRED: ['APPROVED_FOR_EXECUTION', 'SERVICE_REVIEW', 'CANCELED'],
  PROCESSING: ['SUCCEEDED', 'FAILED'],
  SUCCEEDED: ['FAILED'],
};
const ADVANCE_MOVES = {
  NONE: ['PENDING_REVIEW'],
  PENDING_REVIEW: ['APPROVED', 'REFUSED'],
  APPROVED: ['RELEASED', 'REFUSED'],
  RELEASED: ['SETTLED'],
};
const PRODUCT_MOVES = { NONE: ['DRAFT'], DRAFT: ['ACTIVE'], ACTIVE: ['ARCHIVED'] };

/** How a command may be refused. */
const REFUSALS = new Set([
  ...['REFUND_EXECUTION_ENDED', 'REFUND_EXECUTION_NOT_CURRENT'],
  ...['REFUND_CASE_NOT_FOUND', 'DISPUTE_NOT_FOUND', 'SALE_NOT_FOUND', 'BLOCK_NOT_FOUND', 'OFFER_NOT_FOUND'],
  ...['REFUND_DEBIT_NOT_FOUND', 'QUOTE_NOT_FOUND', 'ADVANCE_REQUEST_NOT_FOUND', 'PRODUCT_NOT_FOUND'],
  ...['PRICE_NOT_FOUND', 'REFUND_CASE_STATE', 'REFUND_CASE_BLOCKED', 'REFUND_EXECUTION_STARTED'],
  ...[
    'REFUND_EXECUTION_NOT_STARTED',
    'REFUND_EXCEEDS_PAYMENT',
    'REFUND_EXCEEDS_SALE',
    'REFUND_WINDOW_EXPIRED',
    'PAYMENT_FACTS_DIFFER',
  ],
  ...['MERCHANT_REVIEW_NOT_DUE', 'DEADLINE_NOTICE_NOT_DUE', 'DISPUTE_CLOSED', 'REFUND_ALREADY_DEBITED'],
  ...['REFUND_DEBIT_REVERSED', 'INSUFFICIENT_AVAILABLE_BALANCE', 'NOTHING_TO_ADVANCE', 'QUOTE_EXPIRED'],
  ...['QUOTE_STALE', 'QUOTE_ALREADY_REQUESTED', 'ADVANCE_REQUEST_STATE', 'COVERED_PART_DUE'],
  ...['BLOCK_AMOUNT_DIFFERS', 'ADVANCE_NOT_DUE', 'PRODUCT_STATE', 'PRODUCT_WITHOUT_PRICE', 'PRICE_RETIRED'],
  ...[
    'LAST_PRICE_OF_ACTIVE_PRODUCT',
    'IDEMPOTENCY_KEY_IN_USE',
    'DISPUTE_AMOUNT_UNKNOWN',
    'DISPUTE_AMOUNT_DIFFERS',
    'DISPUTE_EXCEEDS_PAYMENT',
    'SALE_NOT_RECORDED',
    'DISPUTE_NOT_LOST',
    'DISPUTE_REVERSED',
    'OPEN_DEBTS_EXCEEDED',
    'PAYOUT_ALREADY_ACCEPTED',
    'PAYOUT_NOT_ACCEPTED',
    'PAYOUT_RETURNED',
  ],
]);

/** Commands that advance a case, an advance or a product are more frequent than the rest. */
const OFTEN: Readonly<Record<string, number>> = {
  OpenRefundCase: 9,
  StartRefund: 7,
  RecordRefundDebit: 7,
  RecordProviderOutcome: 7,
  RecordSale: 6,
  QuoteAdvance: 4,
  RequestAdvance: 5,
  ApproveAdvance: 4,
  ReleaseAdvance: 4,
  DecideRefundCase: 3,
  ReviewRefundCase: 3,
  DebitForRefund: 3,
  CreatePrice: 2,
  ReverseRefundDebit: 2,
  SettleAdvance: 2,
};
/** Each sequence runs most of its commands in one area, to get far there. */
const FOCUSES = Object.values(AREAS).map((area) => new Set([...Object.keys(area), 'RecordSale']));
const nameOf = (focus: ReadonlySet<string>) =>
  fc.oneof(
    ...Object.keys(COMMANDS).map((name) => {
      return { weight: (OFTEN[name] ?? 1) * (focus.has(name) ? 6 : 1), arbitrary: fc.constant(name) };
    }),
  );
const drawOf = (focus: ReadonlySet<string>): fc.Arbitrary<Draw> =>
  fc.record({
    name: nameOf(focus),
    account: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) }),
    foreign: fc.nat(15).map((n) => n === 15),
    twice: fc.boolean(),
    at: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(7) }),
    choice: fc.nat(CHOICES - 1),
    amountMinor: fc.bigInt(1n, 3_000n),
  });
type Step = { readonly days: number } | { readonly batch: readonly Draw[] };
const days = fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 8, max: 60 }));
type Path = readonly (string | number | readonly [name: string, choice: number])[];
const LOSE_DISPUTE: Path = ['OpenDispute', ['BlockFunds', 2], ['UnblockFunds', 1]];
/** Paths that random commands seldom complete: commands on the newest objects, with days in between. */
const PATHS: readonly Path[] = [
  ['RecordSale', 'QuoteAdvance', 'RequestAdvance', 'ApproveAdvance', 'ReleaseAdvance', 240, 'SettleAdvance'],
  ['RecordSale', 'QuoteAdvance', 'RequestAdvance', 'ApproveAdvance', 'RefuseAdvance'],
  ['OpenRefundCase', 'StartRefund', 'RecordRefundDebit', 'RecordProviderOutcome', 'RecordProviderOutcome'],
  ['OpenRefundCase', 'StartRefund', 'BeginRefundExecution', 'RecordRefundDebit'],
  ['OpenRefundCase', 'StartRefund', 'RecordRefundDebit', 'CancelRefundCase'],
  ['OpenRefundCase', 'StartRefund', 'RecordRefundDebit', 'OpenDispute'],
  ['OpenRefundCase', 'StartRefund', 'RecordRefundDebit', 'OpenDispute', 'ReviewRefundCase'],
  ['OpenRefundCase', 'DecideRefundCase', 'ReviewRefundCase', 'StartRefund'],
  ['OpenRefundCase', 9, 'AnnounceReviewDeadline', 'ExpireMerchantReview', 'ReviewRefundCase'],
  ['CreateProduct', 'CreatePrice', 'CreateOffer', 'ActivateProduct', 'RetireOffer', 'ArchiveProduct'],
  ['CreateProduct', 'CreatePrice', 'RetirePrice'],
  ['OpenRefundCase', 'OpenDispute', 'BlockFunds', 'CloseDispute', 'UnblockFunds'],
  ['RecordSale', 60, 'ReleaseDueFunds', 'DebitForRefund', 'ReverseRefundDebit'],
  ['RecordSale', ['OpenRefundCase', 3], ...LOSE_DISPUTE, ...LOSE_DISPUTE],
  ['RecordSale', ['OpenRefundCase', 3], 60, 'ReleaseDueFunds', 'DebitForRefund', ...LOSE_DISPUTE],
  ['RecordSale', ['OpenRefundCase', 3], ...LOSE_DISPUTE, 'ReverseDeduction', ...LOSE_DISPUTE],
  [
    'OpenRefundCase',
    'OpenDispute',
    ['CloseDispute', 1],
    'OpenDispute',
    ['CloseDispute', 1],
    'ReverseDispute',
    'ReviewRefundCase',
  ],
  ['ApplyDeduction', ['RecordDebtPayment', 1], 'ReverseDeduction', 'RecordSale'],
  [
    'RecordSale',
    'QuoteAdvance',
    'RequestAdvance',
    'ApplyDeduction',
    'ApproveAdvance',
    'ReleaseAdvance',
    'RecordPayoutAnswer',
    'ReverseDeduction',
  ],
];
const LONGEST = Math.max(...PATHS.map(({ length }) => length));
/** The steps of a path, with one account and a draw for each. */
const stepsOf = (path: Path, draws: readonly Draw[]): Step[] =>
  path.map((step, index): Step => {
    if (typeof step === 'number') return { days: step };
    const { account } = draws[0]!;
    const draw = draws[index]!;
    const [name, choice] = typeof step === 'string' ? [step, draw.choice] : step;
    return { batch: [{ ...draw, name, choice, account, foreign: false, at: 0 }] };
  });
const pathOf = (draw: fc.Arbitrary<Draw>): fc.Arbitrary<Step[]> =>
  fc
    .tuple(fc.constantFrom(...PATHS), fc.array(draw, { minLength: LONGEST, maxLength: LONGEST }))
    .map(([path, draws]) => stepsOf(path, draws));
const fragmentOf = (draw: fc.Arbitrary<Draw>): fc.Arbitrary<Step[]> =>
  fc.oneof(
    { weight: 9, arbitrary: draw.map((one) => [{ batch: [one] }]) },
    { weight: 5, arbitrary: fc.array(draw, { minLength: 2, maxLength: 3 }).map((batch) => [{ batch }]) },
    { weight: 1, arbitrary: days.map((days) => [{ days }]) },
    { weight: 2, arbitrary: pathOf(draw) },
  );
const steps = fc
  .oneof(
    ...FOCUSES.map((focus) =>
      fc.array(fragmentOf(drawOf(focus)), { minLength: 25, maxLength: 45, size: 'max' }),
    ),
  )
  .map((fragments) => fragments.flat());

/** The commands that have succeeded over the whole run. */
const succeeded = new Set<string>();

/** Plays steps on two merchants in both environments, and checks the responses against the rules after each. */
class Books {
  readonly #clients = clientsOf(harness.transports.inProcess);
  readonly #accounts: readonly Account[];
  readonly #last = new Map<string, { status: string; updatedAt: number }>();
  readonly #calendars = new Map<string, string>();
  /** The amounts that sources have deducted. */
  readonly #taken = new Map<string, bigint>();
  #on = START;
  #sent = 0;

  constructor() {
    const [one, other] = [newTenant(), newTenant()];
    const tenants = [one, other, ...[one, other].map((live) => ({ ...live, environment: Environment.TEST }))];
    this.#accounts = tenants.map((tenant) => new Account(tenant));
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if ('days' in step) this.#on = addDays(this.#on, step.days);
      else if (this.#sent + step.batch.length <= MAX_COMMANDS) await this.#send(step.batch);
    }
    for (const account of this.#accounts) await this.#check(account, []);
  }

  async #send(batch: readonly Draw[]): Promise<void> {
    this.#sent += batch.length;
    const builders = batch.map((draw) => {
      const index = draw.account;
      const other = this.#accounts[(index + 1 + (draw.choice % 3)) % this.#accounts.length]!;
      return new CommandBuilder(this.#clients, this.#accounts[index]!, other, this.#on, draw);
    });
    const ready = builders.map((builder) => ({ builder, call: COMMANDS[builder.draw.name]!(builder) }));
    await Promise.all(ready.map(({ builder, call }) => send(builder, call, batch.length === 1)));
    const touched = Map.groupBy(builders, ({ account }) => account);
    await Promise.all([...touched].map(([account, sent]) => this.#check(account, sent)));
  }

  /** `sent`: the commands just sent to the account; their number is the maximum number of explained moves. */
  async #check(account: Account, sent: readonly CommandBuilder[]): Promise<void> {
    const { length: commands } = sent;
    await Promise.all([
      this.#checkDeductions(account, sent),
      this.#checkRefunds(account, commands),
      this.#checkAdvances(account, commands),
      this.#checkProducts(account, commands),
      this.#checkFunds(account, commands === 0),
    ]);
  }

  async #checkRefunds(account: Account, commands: number): Promise<void> {
    const cases = await allItems(
      (page) => this.#clients.refunds.listRefundCases({ ...account.tenant, ...page }),
      (page) => page.refundCases,
    );
    const disputes = await allItems(
      (page) => this.#clients.refunds.listDisputes({ ...account.tenant, ...page }),
      (page) => page.disputes,
    );
    expectOwn(cases, account, 'cases');
    for (const one of cases) {
      const status = RefundCaseStatus[one.status];
      expectRefundCase(one, status);
      this.#moveOn(one, status, REFUND_MOVES, commands);
    }
    for (const { id, paidMinor } of account.known('payments')) {
      const taken = cases.filter((one) => one.paymentIntentId === id && !endedWithoutPayment(one));
      const sum = taken.reduce((all, { amountMinor }) => all + amountMinor, 0n);
      expect(sum, `refunds of payment ${id}`).toBeLessThanOrEqual(paidMinor);
      const ofPayment = disputes.filter(({ paymentIntentId }) => paymentIntentId === id);
      expectDisputesRespected(taken, ofPayment, paidMinor);
    }
  }

  async #checkAdvances(account: Account, commands: number): Promise<void> {
    const requests = await allItems(
      (page) => this.#clients.advances.listAdvanceRequests({ ...account.tenant, ...page, pageSize: 50 }),
      (page) => page.advanceRequests,
    );
    expectOwn(requests, account, 'advances');
    for (const one of requests) {
      const status = AdvanceRequestStatus[one.status];
      expectAdvance(one, status);
      this.#moveOn(one, status, ADVANCE_MOVES, commands);
    }
  }

  async #checkProducts(account: Account, commands: number): Promise<void> {
    const products = await allItems(
      (page) => this.#clients.products.listProducts({ ...account.tenant, ...page }),
      (page) => page.products,
    );
    expectOwn(products, account, 'products');
    for (const one of products) {
      const status = ProductStatus[one.status];
      expectProduct(one, status);
      this.#moveOn(one, status, PRODUCT_MOVES, commands);
    }
  }

  async #checkFunds(account: Account, everyMonth: boolean): Promise<void> {
    const { tenant } = account;
    const { funds } = this.#clients;
    const { merchantId, environment } = tenant;
    const { differences } = await funds.verifyFunds({ merchantId, environment });
    expect(differences).toEqual([]);
    const rows = await allItems(
      (page) => funds.listFundsReleases({ ...tenant, ...page }),
      (page) => page.releases,
    );
    for (const row of rows) expectRow(row);
    const gross = account.known('sales').reduce((sum, { grossMinor }) => sum + grossMinor, 0n);
    expect(sumOf(rows, 'grossAllocatedAmountMinor')).toBe(gross);
    const balance = await funds.getBalance(tenant);
    expect(balance.releasedAmountMinor).toBe(sumOf(rows, 'releasedAmountMinor'));
    expect(balance.availableAmountMinor).toBe(balance.releasedAmountMinor - balance.openDebtsAmountMinor);
    for (const [month, ofMonth] of Map.groupBy(rows, ({ date }) => date.slice(0, 7))) {
      const key = `${merchantId} ${environment} ${month}`;
      const seen = ofMonth.map((row) => Object.values(row).join()).join(';');
      if (!everyMonth && this.#calendars.get(key) === seen) continue;
      this.#calendars.set(key, seen);
      const { days } = await funds.getReleaseCalendar({ ...tenant, month });
      expect(days).toMatchObject([...Map.groupBy(ofMonth, ({ date }) => date)].map(dayOf));
    }
  }

  /** A lost dispute deducts no more of its sale than refunds and other disputes have left; a refund may follow it. */
  async #checkDeductions({ tenant }: Account, sent: readonly CommandBuilder[]): Promise<void> {
    const { deductions } = await this.#clients.funds.scanDeductions(tenant);
    const isRefunded = sent.some(({ draw }) => draw.name === 'DebitForRefund');
    for (const { sourceId, amountMinor, saleRestMinor = 0n } of deductions) {
      const hasTaken = amountMinor > (this.#taken.get(sourceId) ?? 0n);
      this.#taken.set(sourceId, amountMinor);
      if (hasTaken && !isRefunded) expect(saleRestMinor, `rest after ${sourceId}`).toBeGreaterThanOrEqual(0n);
    }
  }

  /** Expects this many commands to lead from the previous state to this one, and its time not to go back. */
  #moveOn(
    one: { readonly id: string; readonly updatedAt?: Timestamp },
    status: string,
    moves: Readonly<Record<string, readonly string[]>>,
    commands: number,
  ): void {
    const before = this.#last.get(one.id) ?? { status: 'NONE', updatedAt: 0 };
    const updatedAt = one.updatedAt ? timestampMs(one.updatedAt) : 0;
    this.#last.set(one.id, { status, updatedAt });
    expect(updatedAt).toBeGreaterThanOrEqual(before.updatedAt);
    if (before.status === status) return;
    const reached = new Set([before.status]);
    for (let left = commands; left > 0; left -= 1) {
      for (const from of [...reached]) for (const to of moves[from] ?? []) reached.add(to);
    }
    expect([...reached], `${one.id} came from ${before.status}`).toContain(status);
  }
}

/** Sends a command, if it is alone perhaps twice at once. It must succeed, or be refused for a valid reason. */
async function send(builder: CommandBuilder, call: () => Promise<unknown>, alone: boolean): Promise<void> {
  const { name, twice } = builder.draw;
  const calls = alone && twice && !KEYLESS.has(name) ? [call(), call()] : [call()];
  const outcomes = await Promise.all(calls.map((one) => outcomeOf(one)));
  const answered = outcomes.filter((outcome) => outcome !== 'IDEMPOTENCY_KEY_IN_USE');
  expect(new Set(answered).size, `${name} answered ${answered}`).toBe(1);
  if (builder.missing) expect(answered[0], name).toMatch(/_NOT_FOUND$/);
  if (answered[0] === 'OK') succeeded.add(name);
}

async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'OK';
  } catch (error) {
    const { reason } = errorInfoOf(error) ?? {};
    if (reason === undefined || !REFUSALS.has(reason)) throw error;
    const notFound = error instanceof ConnectError && error.code === Code.NotFound;
    expect(notFound).toBe(reason.endsWith('_NOT_FOUND'));
    return reason;
  }
}

/** Expects a tenant to see exactly what it has created. */
function expectOwn(
  shown: readonly { id: string; merchantId: string; environment: Environment }[],
  account: Account,
  kind: 'cases' | 'advances' | 'products',
): void {
  for (const one of shown) expect(one).toMatchObject(account.tenant);
  const made = account.known(kind).map(({ id }) => id);
  expect(shown.map(({ id }) => id).sort(), kind).toEqual(made.sort());
}

function expectRefundCase(one: RefundCase, status: string): void {
  const { INSUFFICIENT_AVAILABLE_BALANCE } = RefundBlocker;
  const final = ['SUCCEEDED', 'FAILED', 'CANCELED', 'REJECTED'].includes(status);
  if (final) expect(one.blockedBy, status).toEqual([]);
  const unfunded = one.blockedBy.includes(INSUFFICIENT_AVAILABLE_BALANCE);
  expect(unfunded, `blocked by the balance in ${status}`).toBe(status === 'FUNDING_REQUIRED');
  const wasProcessing = ['PROCESSING', 'SUCCEEDED', 'FAILED'].includes(status);
  expect(one.provider !== undefined, `provider of ${status}`).toBe(wasProcessing);
  if (one.merchantDecision) {
    const { decision, decidedAt } = one.merchantDecision;
    expect(decision === MerchantDecisionKind.EXPIRED).toBe(decidedAt === undefined);
  }
  if (one.merchantReviewDeadlineAt) expect(one.initiator).toBe(RefundInitiator.CUSTOMER);
  if (status === 'MERCHANT_REVIEW') expect(one.merchantReviewDeadlineAt).toBeDefined();
  expect(timestampMs(one.requestedAt!)).toBeLessThanOrEqual(timestampMs(one.updatedAt!));
}

const endedWithoutPayment = ({ status }: RefundCase) =>
  [RefundCaseStatus.FAILED, RefundCaseStatus.CANCELED, RefundCaseStatus.REJECTED].includes(status);

/** As long as a refund of a payment may still be paid, no dispute is open, and lost ones have left enough for it. */
function expectDisputesRespected(
  refunds: readonly RefundCase[],
  disputes: readonly Dispute[],
  paidMinor: bigint,
): void {
  const unblocked = refunds.filter(({ blockedBy }) => !blockedBy.includes(RefundBlocker.PAYMENT_DISPUTED));
  if (unblocked.every(({ status }) => status === RefundCaseStatus.SUCCEEDED)) return;
  const { WON, REVERSED } = DisputeOutcome;
  const lost = disputes.filter(({ outcome }) => outcome !== WON && outcome !== REVERSED);
  for (const { closedAt } of lost) expect(closedAt, 'the end of a dispute').toBeDefined();
  const lostOf = ({ amountMinor, lostAmountMinor, closedAt }: Dispute) => {
    // Before its first refund, a payment lost what the sale's other payments had not paid: nothing, if they had paid all.
    const wasUnknown = refunds.every(
      ({ requestedAt }) => timestampMs(requestedAt!) >= timestampMs(closedAt!),
    );
    return amountMinor ?? (wasUnknown ? lostAmountMinor : undefined) ?? paidMinor;
  };
  const amounts = [...unblocked.map(({ amountMinor }) => amountMinor), ...lost.map(lostOf)];
  const sum = amounts.reduce((all, amountMinor) => all + amountMinor, 0n);
  expect(sum, 'refunds and lost disputes').toBeLessThanOrEqual(paidMinor);
}

function expectAdvance(one: AdvanceRequest, status: string): void {
  expect(one.amountMinor - one.feeAmountMinor).toBe(one.netAmountMinor);
  expect(one.netAmountMinor).toBeGreaterThan(0n);
  const times = [one.requestedAt, one.reviewedAt, one.releasedAt].map((time) => time && timestampMs(time));
  const given = times.filter((time) => time !== undefined);
  expect(given).toEqual([...given].sort((first, second) => first - second));
  expect(one.reviewedAt !== undefined, status).toBe(status !== 'PENDING_REVIEW');
  expect(one.releasedAt !== undefined, status).toBe(['RELEASED', 'SETTLED'].includes(status));
}

function expectProduct(one: Product, status: string): void {
  expect(one.archivedAt !== undefined).toBe(status === 'ARCHIVED');
  if (status === 'ACTIVE') expect(one.prices).not.toEqual([]);
  const prices = one.prices.map(({ id }) => id);
  for (const { priceId } of one.offers) expect(prices).toContain(priceId);
}

/** (A), (B) and (C) of a row. */
function expectRow(row: FundsRelease): void {
  const { BLOCKED, RELEASED, SCHEDULED } = FundsReleaseStatus;
  const left = [row.blockedAmountMinor, row.releasedAmountMinor, row.scheduledAmountMinor];
  const all = [row.deductionsAmountMinor, row.advancedAmountMinor, ...left];
  expect(row.originalAmountMinor).toBe(row.grossAllocatedAmountMinor - row.feesAllocatedAmountMinor);
  expect(row.originalAmountMinor).toBe(all.reduce((sum, amount) => sum + amount, 0n));
  for (const amount of all) expect(amount).toBeGreaterThanOrEqual(0n);
  const named = [BLOCKED, RELEASED, SCHEDULED].indexOf(row.status);
  for (const [index, amount] of left.entries()) if (index !== named) expect(amount).toBe(0n);
  expect(row.status === BLOCKED).toBe(row.blockedAmountMinor > 0n);
  expect(row.blockedReasons.length > 0).toBe(row.status === BLOCKED);
  expect(row.salesCount).toBeGreaterThan(0);
}

type Figure = `${'grossAllocated' | 'released' | 'scheduled' | 'advanced' | 'deductions'}AmountMinor`;
const sumOf = (rows: readonly FundsRelease[], figure: Figure) =>
  rows.reduce((sum, row) => sum + row[figure], 0n);

const dayOf = ([date, rows]: [string, FundsRelease[]]) => ({
  date,
  releasedAmountMinor: sumOf(rows, 'releasedAmountMinor'),
  scheduledAmountMinor: sumOf(rows, 'scheduledAmountMinor'),
  advancedAmountMinor: sumOf(rows, 'advancedAmountMinor'),
  deductionsAmountMinor: sumOf(rows, 'deductionsAmountMinor'),
  hasBlockedFunds: rows.some(({ blockedAmountMinor }) => blockedAmountMinor > 0n),
});

test('any commands of all areas, sequential or concurrent, leave every list consistent with the rules', async () => {
  const property = fc.asyncProperty(steps, (all) => new Books().run(all));
  await fc.assert(property, { numRuns: propertyRuns(SEQUENCES), endOnFailure: true });
  if (env.FC_SEED || env.FC_RUNS) return;
  const missing = () => Object.keys(COMMANDS).filter((name) => !succeeded.has(name));
  // A few commands need a rare state, which the sequences do not always reach: the paths to it are played with each choice.
  for (let choice = 0; choice < CHOICES; choice += 1) {
    const draw = { name: '', account: 0, foreign: false, twice: false, at: 0, choice, amountMinor: 100n };
    const open = new Set<string | number>(missing());
    for (const path of PATHS.filter((path) =>
      path.some((step) => open.has(typeof step === 'object' ? step[0] : step)),
    ))
      await new Books().run(stepsOf(path, Array(path.length).fill(draw)));
  }
  for (let more = 0; more < 12 && missing().length > 0; more += 1) {
    await fc.assert(property, { numRuns: MORE_SEQUENCES, endOnFailure: true });
  }
  expect(missing()).toEqual([]);
}, 600_000);
