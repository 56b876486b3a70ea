import { describe, expect, it } from 'vitest';
import {
  type Dispute,
  disputedAmount,
  disputedSale,
  disputeNotFound,
  dueDateOf,
  dueNoticeAt,
  recordResponse,
  recordSubmission,
} from '../../../../services/refunds/disputes/dispute.ts';
import {
  endDispute,
  recordReversal,
  returnedByDisputes,
  undisputedMinor,
} from '../../../../services/refunds/disputes/dispute-outcome.ts';
import { awaitsFundingOnly } from '../../../../services/refunds/execution/refund-execution.ts';
import {
  type PaymentFacts,
  refundWindowExpiresAt,
  requireLeftOfSale,
  requireRefundable,
  saleRestMinor,
} from '../../../../services/refunds/payments/payment-facts.ts';

const PAID_AT = new Date('2026-11-01T12:00:00Z');
const at = (time: string) => new Date(`2026-11-${time}Z`);

const facts = (given: Partial<PaymentFacts> = {}): PaymentFacts => ({
  paidAmountMinor: 1_000n,
  paidAt: PAID_AT,
  refundWindowDays: 7,
  productId: 'product',
  saleId: 'sale',
  orderId: null,
  invoiceId: null,
  ...given,
});

describe('the refund window', () => {
  it('is days of 24 hours from the payment, or none', () => {
    expect(refundWindowExpiresAt(facts())).toEqual(at('08T12:00:00'));
    expect(refundWindowExpiresAt(facts({ paidAt: null }))).toBeNull();
    expect(refundWindowExpiresAt(facts({ refundWindowDays: null }))).toBeNull();
  });

  it('is open until its last moment', () => {
    requireRefundable(facts(), 1n, 0n, at('08T12:00:00'));
    const expiresAt = '2026-11-08T12:00:00.000Z';
    expect(() => requireRefundable(facts(), 1n, 0n, at('08T12:00:00.001'))).toThrow(
      expect.objectContaining({ reason: 'REFUND_WINDOW_EXPIRED', metadata: { expiresAt } }),
    );
  });

  it('does not begin before the payment, nor end for one without a window or a time', () => {
    requireRefundable(facts(), 1n, 0n, PAID_AT);
    expect(() => requireRefundable(facts(), 1n, 0n, at('01T11:59:59.999'))).toThrow(
      expect.objectContaining({
        reason: 'PAID_AT_IN_FUTURE',
        message: 'paid_at: must not be later than the request',
        metadata: { field: 'paid_at' },
      }),
    );
    requireRefundable(facts({ paidAt: null }), 1n, 0n, new Date(-1));
    requireRefundable(facts({ refundWindowDays: null }), 1n, 0n, at('30T00:00:00'));
  });

  it('leaves the paid amount minus the other refunds', () => {
    requireRefundable(facts(), 400n, 600n, PAID_AT);
    expect(() => requireRefundable(facts(), 401n, 600n, PAID_AT)).toThrow(
      expect.objectContaining({
        reason: 'REFUND_EXCEEDS_PAYMENT',
        message: 'only 400 centavos can still be refunded',
        metadata: { refundableAmountMinor: '400' },
      }),
    );
  });
});

type Payment = Parameters<typeof endDispute>[2];

describe('a dispute', () => {
  const none = { returnedMinor: 0n, refundedMinor: 0n };
  const unknown = { ...facts({ saleId: null }), paidAmountMinor: null, undisputedMinor: null, ...none };
  const paid = { ...facts(), undisputedMinor: 1_000n, ...none };
  const dispute = {
    saleId: null,
    amountMinor: null,
    openedAt: at('05T00:00:00'),
    dueAt: at('08T00:00:00'),
    closedAt: null,
    responseText: null,
    respondedAt: null,
    responseSubmittedAt: null,
    outcome: null,
    lostMinor: null,
    reversedAt: null,
  };

  const end = (outcome: 'WON' | 'LOST', amountMinor?: bigint) => ({ outcome, amountMinor });

  it('holds the sale of its payment, or the one in the request while the facts are unknown', () => {
    expect(disputedSale(facts(), undefined)).toBe('sale');
    expect(disputedSale(facts(), 'sale')).toBe('sale');
    expect(disputedSale(facts({ saleId: null }), undefined)).toBeNull();
    expect(disputedSale(unknown, 'named')).toBe('named');
    expect(disputedSale(unknown, undefined)).toBeNull();
    expect(disputedSale({ ...unknown, saleId: 'sale' }, undefined)).toBe('sale');
    expect(() => disputedSale(facts(), 'other')).toThrow(
      expect.objectContaining({ reason: 'PAYMENT_FACTS_DIFFER' }),
    );
  });

  it('ends once, not before it was opened, with the sale that is known by then', () => {
    const ended = endDispute(dispute, end('LOST'), paid, at('06T00:00:00'));
    const closed = { amountMinor: null, closedAt: at('06T00:00:00'), outcome: 'LOST', lostMinor: 1_000n };
    expect(ended).toEqual({ ...closed, saleId: 'sale' });
    const own = endDispute({ ...dispute, saleId: 'own' }, end('WON'), paid, at('01T00:00:00'));
    expect(own).toMatchObject({ saleId: 'own', closedAt: dispute.openedAt, outcome: 'WON' });
    expect(() => endDispute({ ...dispute, ...ended }, end('WON'), paid, at('07T00:00:00'))).toThrow(
      expect.objectContaining({ reason: 'DISPUTE_CLOSED', metadata: { state: 'CLOSED' } }),
    );
  });

  it('that was lost without the sale of its payment returned what it took: at most everything, if that is unknown', () => {
    const returned = (saleId: string | null, amountMinor: bigint | null, lostMinor: bigint | null) =>
      returnedByDisputes(paid, [{ saleId, amountMinor, lostMinor }]);
    expect(returned(null, 900n, 700n)).toBe(700n);
    expect(returned('other', 900n, null)).toBe(900n);
    expect(returned(null, null, null)).toBe(paid.paidAmountMinor);
    expect(returned(paid.saleId, 900n, null)).toBe(0n);
    expect(returnedByDisputes(unknown, [{ saleId: null, amountMinor: null, lostMinor: null }])).toBe(0n);
  });

  it('is due after it opens, and its merchant is notified before: at once without a date, unless it is imported', () => {
    const { openedAt, dueAt } = dispute;
    expect([dueDateOf(dueAt, openedAt), dueDateOf(undefined, openedAt)]).toEqual([dueAt, null]);
    expect(() => dueDateOf(openedAt, openedAt)).toThrow(
      expect.objectContaining({ reason: 'DUE_DATE_BEFORE_OPENING', metadata: { field: 'due_at' } }),
    );
    const noticeAt = (due: Date | null, recordedAt = openedAt) =>
      dueNoticeAt(openedAt, due, 24 * 3_600_000, recordedAt);
    expect(noticeAt(dueAt)).toEqual(at('07T00:00:00'));
    expect(noticeAt(at('06T00:00:00'))).toEqual(at('05T12:00:00'));
    expect(noticeAt(null, at('06T00:00:00'))).toEqual(openedAt);
    expect(noticeAt(null, at('06T00:00:01'))).toBeNull();
  });

  it('can be reversed once, if it was lost, and not before it was', () => {
    const lost: Dispute = { ...dispute, ...endDispute(dispute, end('LOST'), paid, at('06T00:00:00')) };
    const reversed = { outcome: 'REVERSED', reversedAt: at('07T00:00:00') } as const;
    expect(recordReversal(lost, at('07T00:00:00'))).toEqual(reversed);
    expect(recordReversal(lost, at('05T00:00:00')).reversedAt).toEqual(lost.closedAt);
    const refusal = (reason: string, metadata: object) => expect.objectContaining({ reason, metadata });
    expect(() => recordReversal({ ...lost, ...reversed }, at('08T00:00:00'))).toThrow(
      refusal('DISPUTE_REVERSED', { reversedAt: reversed.reversedAt.toISOString() }),
    );
    expect(() => recordReversal({ ...lost, outcome: 'WON' }, at('08T00:00:00'))).toThrow(
      refusal('DISPUTE_NOT_LOST', { state: 'WON' }),
    );
    expect(() => recordReversal(dispute, at('08T00:00:00'))).toThrow(
      refusal('DISPUTE_NOT_LOST', { state: 'OPEN' }),
    );
  });

  it('leaves of its payment, when it is lost, what it did not take, whatever the order in which they are read', () => {
    const lost = (day: number, amountMinor: bigint | null, lostMinor: bigint | null = null) => ({
      amountMinor,
      lostMinor,
      closedAt: at(`0${day}T00:00:00`),
      outcome: 'LOST' as const,
    });
    const left = (...disputes: Parameters<typeof undisputedMinor>[1]) => [
      undisputedMinor(100n, disputes),
      undisputedMinor(100n, disputes.toReversed()),
    ];
    expect(left(lost(1, 30n), lost(2, 20n))).toEqual([50n, 50n]);
    expect(left(lost(1, null))).toEqual([0n, 0n]);
    expect(left(lost(1, null, 60n))).toEqual([40n, 40n]);
    expect(left(lost(1, 30n, 10n))).toEqual([70n, 70n]);
    expect(left(lost(1, null, 0n), lost(2, 110n))).toEqual([0n, 0n]);
    expect(left(lost(1, null, 60n), lost(1, 30n))).toEqual([10n, 10n]);
    expect(left(lost(1, null, 60n), { ...lost(2, 1n), outcome: null, closedAt: null })).toEqual([0n, 0n]);
  });

  it('without an amount takes what refunds and earlier lost disputes have left of its payment, if that is known', () => {
    const lost = (payment: Partial<Payment>) =>
      endDispute({ ...dispute, saleId: 'sale' }, end('LOST'), { ...paid, ...payment }, at('06T00:00:00'))
        .lostMinor;
    expect(lost({ refundedMinor: 300n })).toBe(700n);
    expect(lost({ refundedMinor: 300n, undisputedMinor: 400n })).toBe(100n);
    expect(lost({ refundedMinor: 300n, undisputedMinor: 200n })).toBe(0n);
    expect(lost({ undisputedMinor: null })).toBeNull();
  });

  it('is lost for an amount or a sale; its end may name the amount only if it was opened without both', () => {
    const ends = (
      opened: object,
      outcome: 'WON' | 'LOST',
      amountMinor?: bigint,
      payment: Payment = unknown,
    ) => endDispute({ ...dispute, ...opened }, end(outcome, amountMinor), payment, at('06T00:00:00'));
    const refused = (reason: string) => expect.objectContaining({ reason });
    expect(() => ends({}, 'LOST')).toThrow(refused('DISPUTE_AMOUNT_UNKNOWN'));
    expect(ends({}, 'WON')).toMatchObject({ saleId: null, amountMinor: null });
    expect(ends({}, 'LOST', 70n)).toMatchObject({ saleId: null, amountMinor: 70n });
    expect(ends({ amountMinor: 70n }, 'LOST')).toMatchObject({ amountMinor: 70n });
    expect(ends({ amountMinor: 70n }, 'LOST', 70n)).toMatchObject({ amountMinor: 70n });
    expect(() => ends({ amountMinor: 70n }, 'LOST', 71n)).toThrow(refused('DISPUTE_AMOUNT_DIFFERS'));
    expect(() => ends({ saleId: 'own' }, 'LOST', 70n)).toThrow(refused('DISPUTE_AMOUNT_DIFFERS'));
    const known = { ...unknown, paidAmountMinor: 70n };
    expect(() => ends({}, 'LOST', 71n, known)).toThrow(refused('DISPUTE_EXCEEDS_PAYMENT'));
  });

  it('takes no more than is left of a payment without a sale', () => {
    const lost = (payment: Partial<Payment>, opened: object = {}, outcome: 'WON' | 'LOST' = 'LOST') =>
      endDispute(
        { ...dispute, amountMinor: 70n, ...opened },
        end(outcome),
        { ...unknown, paidAmountMinor: 100n, ...payment },
        at('06T00:00:00'),
      ).lostMinor;
    expect(lost({})).toBe(70n);
    expect(lost({ returnedMinor: 30n })).toBe(70n);
    expect(lost({ returnedMinor: 31n })).toBe(69n);
    expect(lost({ returnedMinor: 100n })).toBe(0n);
    expect(lost({ returnedMinor: 101n })).toBe(0n);
    expect(lost({ paidAmountMinor: null, returnedMinor: 100n })).toBe(70n);
    expect(lost({}, { saleId: 'own' })).toBeNull();
    expect(lost({ saleId: 'sale' })).toBeNull();
    expect(lost({}, {}, 'WON')).toBeNull();
  });

  it('covers the requested amount, at most the amount paid, or else the rest of the sale', () => {
    expect(disputedAmount(facts(), 1_000n)).toBe(1_000n);
    expect(disputedAmount(facts(), undefined)).toBeNull();
    expect(disputedAmount(unknown, 1_001n)).toBe(1_001n);
    expect(() => disputedAmount(facts(), 1_001n)).toThrow(
      expect.objectContaining({
        reason: 'DISPUTE_EXCEEDS_PAYMENT',
        message: 'the disputed amount is more than was paid',
        metadata: { paidAmountMinor: '1000' },
      }),
    );
  });

  it('takes one response, while it is open and before its due date', () => {
    const respond = (given: object, time: string) =>
      recordResponse({ ...dispute, ...given }, 'sent', at(time));
    const responded = { responseText: 'sent', respondedAt: at('07T23:59:59') };
    expect(respond({}, '07T23:59:59')).toEqual(responded);
    expect(respond({ dueAt: null }, '30T00:00:00').respondedAt).toEqual(at('30T00:00:00'));
    expect(respond({}, '01T00:00:00').respondedAt).toEqual(dispute.openedAt);
    for (const [given, reason, message, metadata] of [
      [
        {},
        'DISPUTE_RESPONSE_OVERDUE',
        'the due date for a response has passed',
        { dueAt: '2026-11-08T00:00:00.000Z' },
      ],
      [
        responded,
        'DISPUTE_RESPONDED',
        'the dispute already has a response',
        { respondedAt: '2026-11-07T23:59:59.000Z' },
      ],
      [
        { ...responded, closedAt: at('08T00:00:00'), outcome: 'WON' },
        'DISPUTE_CLOSED',
        'the dispute is already closed',
        { state: 'CLOSED' },
      ],
    ] as const) {
      expect(() => respond(given, '08T00:00:00')).toThrow(
        expect.objectContaining({ reason, message, metadata }),
      );
    }
    const { closedAt } = endDispute({ ...dispute, ...responded }, end('WON'), paid, at('06T00:00:00'));
    expect(closedAt).toEqual(responded.respondedAt);
  });

  it('takes one submission of its response, after the due date too, and ends no earlier', () => {
    const responded = { ...dispute, responseText: 'sent', respondedAt: at('07T00:00:00') };
    const submit = (given: object, time: string) => recordSubmission({ ...responded, ...given }, at(time));
    const submitted = { responseSubmittedAt: at('09T00:00:00') };
    expect(submit({}, '09T00:00:00')).toEqual(submitted);
    expect(submit({}, '06T00:00:00').responseSubmittedAt).toEqual(responded.respondedAt);
    for (const [given, reason, metadata] of [
      [{ responseText: null, respondedAt: null }, 'DISPUTE_NOT_RESPONDED', {}],
      [submitted, 'DISPUTE_RESPONSE_SUBMITTED', { submittedAt: '2026-11-09T00:00:00.000Z' }],
      [{ closedAt: at('08T00:00:00'), outcome: 'WON' }, 'DISPUTE_CLOSED', { state: 'CLOSED' }],
    ] as const) {
      expect(() => submit(given, '09T00:00:00')).toThrow(expect.objectContaining({ reason, metadata }));
    }
    const { closedAt } = endDispute({ ...responded, ...submitted }, end('WON'), paid, at('08T00:00:00'));
    expect(closedAt).toEqual(submitted.responseSubmittedAt);
  });

  it('that does not exist is DISPUTE_NOT_FOUND', () => {
    expect(disputeNotFound()).toMatchObject({
      reason: 'DISPUTE_NOT_FOUND',
      message: 'the dispute does not exist',
    });
  });
});

describe('a sale of several payments', () => {
  const sale = { amountMinor: 1_500n, usedMinor: 900n, usedElsewhereMinor: 600n };

  it('limits a payment to its rest unless it covers all of the payment, or nothing else uses it', () => {
    // Of 1,000 that were paid, the other payments leave 900.
    expect(saleRestMinor(sale, 1_000n)).toBe(600n);
    expect(saleRestMinor({ ...sale, usedElsewhereMinor: 501n }, 1_000n)).toBe(600n);
    expect(saleRestMinor({ ...sale, usedElsewhereMinor: 500n }, 1_000n)).toBeNull();
    expect(saleRestMinor({ ...sale, usedElsewhereMinor: 0n }, 2_000n)).toBeNull();
    expect(saleRestMinor({ ...sale, amountMinor: null }, 1_000n)).toBeNull();
    expect(saleRestMinor({ ...sale, usedMinor: 1_600n }, 1_000n)).toBe(0n);
  });

  it('refuses a refund of more than its rest', () => {
    requireLeftOfSale(sale, facts(), 600n);
    requireLeftOfSale({ ...sale, usedElsewhereMinor: 500n }, facts(), 601n);
    expect(() => requireLeftOfSale(sale, facts(), 601n)).toThrow(
      expect.objectContaining({
        reason: 'REFUND_EXCEEDS_SALE',
        message: 'only 600 centavos are left of the sale',
        metadata: { refundableAmountMinor: '600' },
      }),
    );
  });
});

it('a case awaits funding only if it has no other blocker', () => {
  const balance = 'INSUFFICIENT_AVAILABLE_BALANCE' as const;
  const awaits = (status: string, blockedBy: readonly string[]) =>
    awaitsFundingOnly({ status, blockedBy } as Parameters<typeof awaitsFundingOnly>[0]);
  expect(awaits('FUNDING_REQUIRED', [balance])).toBe(true);
  expect(awaits('FUNDING_REQUIRED', [balance, 'KYC_NOT_APPROVED'])).toBe(false);
  expect(awaits('APPROVED_FOR_EXECUTION', ['KYC_NOT_APPROVED'])).toBe(false);
});
