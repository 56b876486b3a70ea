import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { CallOptions, Client } from '@connectrpc/connect';
import {
  type AdvanceRequest,
  AdvanceRequestStatus,
  type AdvanceService,
  PayoutAnswer,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import {
  BlockReason,
  type FundsService,
  RefundDebitState,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { RecordPosition } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DisputeOutcome,
  RefundCaseScope,
  type RefundCaseService,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { enumName } from '../../services/platform/enum-name.ts';
import {
  type RecordKey,
  type Tenant,
  type TenantFields,
  tenantFields,
  tenantOf,
} from '../../services/platform/tenant.ts';
import type { ComparisonName, Finding } from './area-check.contract.ts';
import {
  type AdvanceState,
  checkAdvance,
  checkDebit,
  checkDisputeDeduction,
  checkDisputeHold,
  checkPendingDebit,
  checkRefundHold,
} from './area-rules.ts';
import { mergeRecords, type RecordPage } from './merge-records.ts';

export interface AreaCheckClients {
  readonly refunds: Client<typeof RefundCaseService>;
  readonly funds: Client<typeof FundsService>;
  readonly advances: Client<typeof AdvanceService>;
}

/** All records after a position, or those of one key. */
type Range = { readonly after: RecordKey | undefined } | { readonly only: RecordKey };

type ReadRange<R extends RecordKey> = (range: Range) => Promise<RecordPage<R>>;

/** Records of two areas with the same keys, and what must hold for each key. */
export interface Comparison {
  /** Compares everything after a position, in order. */
  compareAll(after?: RecordKey): AsyncIterable<{ readonly key: RecordKey; readonly findings: Finding[] }>;
  /** Compares one key. */
  compareOne(key: RecordKey): Promise<Finding[]>;
}

const CALL: CallOptions = { timeoutMs: 30_000 };

function comparison<L extends RecordKey, R extends RecordKey>(
  readLeft: ReadRange<L>,
  readRight: ReadRange<R>,
  check: (left: L | undefined, right: R | undefined) => Finding[],
): Comparison {
  return {
    async *compareAll(position) {
      const pages = [
        (after: RecordKey | undefined) => readLeft({ after }),
        (after: RecordKey | undefined) => readRight({ after }),
      ] as const;
      for await (const { key, left, right } of mergeRecords(...pages, position)) {
        yield { key, findings: check(left[0], right[0]) };
      }
    },
    async compareOne(key) {
      const [left, right] = await Promise.all([readLeft({ only: key }), readRight({ only: key })]);
      return check(left.records[0], right.records[0]);
    },
  };
}

/** The comparisons over the RPCs of the areas. `paysOut`: whether payouts are submitted by us. */
export function areaComparisons(
  clients: AreaCheckClients,
  { paysOut }: { readonly paysOut: boolean },
): Readonly<Record<ComparisonName, Comparison>> {
  const { debits, blocks, deductions, reservations, cases, disputes, advances } = scansOf(clients);
  return {
    REFUND_DEBITS: comparison(debits(RefundDebitState.DEBITED), cases(RefundCaseScope.DEBITED), checkDebit),
    PENDING_DEBITS: comparison(
      debits(RefundDebitState.PENDING),
      cases(RefundCaseScope.AWAITING_FUNDS),
      checkPendingDebit,
    ),
    REFUND_HOLDS: comparison(
      blocks(BlockReason.REFUND_IN_PROGRESS),
      cases(RefundCaseScope.OPEN),
      checkRefundHold,
    ),
    DISPUTE_HOLDS: comparison(blocks(BlockReason.HOLD_OR_DISPUTE), disputes, checkDisputeHold),
    ADVANCES: comparison(reservations, advances, (reservation, advance) =>
      checkAdvance(reservation, advance, { paysOut, nowMs: Date.now() }),
    ),
    DISPUTE_DEDUCTIONS: comparison(deductions, disputes, checkDisputeDeduction),
  };
}

/** The scans of all areas, as records with keys. */
function scansOf({ refunds, funds, advances }: AreaCheckClients) {
  return {
    debits: (state: RefundDebitState) => async (range: Range) => {
      const { debits, next } = await funds.scanRefundDebits({ ...requestOf(range), state }, CALL);
      return pageOf(debits, next, ({ refundCaseId: id, amountMinor }) => ({ id, amountMinor }));
    },
    blocks: (reason: BlockReason) => async (range: Range) => {
      const { blocks, next } = await funds.scanOpenBlocks({ ...requestOf(range), reason }, CALL);
      return pageOf(blocks, next, ({ sourceId: id }) => ({ id }));
    },
    deductions: async (range: Range) => {
      const { deductions, next } = await funds.scanDeductions(requestOf(range), CALL);
      return pageOf(deductions, next, ({ sourceId: id, amountMinor, saleRestMinor }) => ({
        id,
        amountMinor,
        saleRestMinor,
      }));
    },
    reservations: async (range: Range) => {
      const { reservations, next } = await funds.scanReservations(requestOf(range), CALL);
      return pageOf(reservations, next, ({ advanceRequestId: id, amountMinor, settled: isSettled }) => ({
        id,
        amountMinor,
        isSettled,
      }));
    },
    cases: (scope: RefundCaseScope) => async (range: Range) => {
      const { refundCases, next } = await refunds.scanRefundCases({ ...requestOf(range), scope }, CALL);
      return pageOf(refundCases, next, ({ id, amountMinor, blockedBy }) => ({
        id,
        amountMinor,
        blockers: blockedBy.length,
      }));
    },
    disputes: async (range: Range) => {
      const { disputes, next } = await refunds.scanDisputes(requestOf(range), CALL);
      return pageOf(disputes, next, ({ id, closedAt, outcome, amountMinor, lostAmountMinor }) => ({
        id,
        isClosed: closedAt !== undefined,
        isLost: outcome === DisputeOutcome.LOST,
        amountMinor: lostAmountMinor ?? amountMinor,
      }));
    },
    advances: async (range: Range) => {
      const { advanceRequests, next } = await advances.scanAdvanceRequests(requestOf(range), CALL);
      return pageOf(advanceRequests, next, advanceState);
    },
  };
}

function advanceState({ id, amountMinor, status, payout }: AdvanceRequest): AdvanceState & { id: string } {
  const answeredAt: Timestamp | undefined = payout?.lastAnswerAt ?? payout?.submittedAt;
  return {
    id,
    amountMinor,
    status: enumName(AdvanceRequestStatus, status),
    payout: answeredAt && {
      // A payout that the bank returned is in a work queue with an alert of its own.
      awaitsProvider: !payout?.acceptedAt && payout?.lastAnswer !== PayoutAnswer.RETURNED,
      lastAnswerAtMs: timestampMs(answeredAt),
    },
  };
}

/** The range in a request of a scan. */
function requestOf(range: Range) {
  if ('only' in range) return { ...tenantFields(range.only), id: range.only.id };
  const { after } = range;
  return after ? { after: { ...tenantFields(after), id: after.id } } : {};
}

function pageOf<M extends TenantFields, R extends { readonly id: string }>(
  messages: readonly M[],
  next: RecordPosition | undefined,
  recordOf: (message: M) => R,
): RecordPage<R & Tenant> {
  return {
    records: messages.map((message) => ({ ...tenantOf(message), ...recordOf(message) })),
    next: next && { ...tenantOf(next), id: next.id },
  };
}
