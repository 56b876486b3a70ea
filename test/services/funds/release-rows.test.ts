import { describe, expect, test } from 'vitest';
import type { Installment } from '../../../services/funds/installment.ts';
import {
  applyToReleases,
  blockedReasons,
  MAX_AMOUNT_MINOR,
  type ReleaseRow,
  requireExactSums,
  rowKey,
  rowOriginalMinor,
  rowRemainingMinor,
} from '../../../services/funds/release-rows.ts';

const DATE = '2026-12-01';
const NONE_HELD = { HOLD_OR_DISPUTE: 0, REFUND_IN_PROGRESS: 0, KYC_PENDING: 0, COMPLIANCE_HOLD: 0 };

function installment(id: string, given: Partial<Installment> = {}): Installment {
  const amounts = { grossMinor: 110n, feesMinor: 10n, deductedMinor: 0n, advancedMinor: 0n };
  const fresh = { reservation: null, released: false, saleBlocks: [], version: 1n };
  return { id, saleId: id, number: 1, date: DATE, ...amounts, ...fresh, ...given };
}

const row = (given: Partial<ReleaseRow> = {}): ReleaseRow => {
  const sums = { grossMinor: 220n, feesMinor: 20n, deductedMinor: 30n, advancedMinor: 50n, salesCount: 2 };
  return { date: DATE, status: 'SCHEDULED', ...sums, held: NONE_HELD, ...given };
};

describe('a row', () => {
  test('is gross less fees, and what remains after deductions and advances', () => {
    expect([rowOriginalMinor(row()), rowRemainingMinor(row())]).toEqual([200n, 120n]);
  });

  test('has a key within its account, and the reasons that block an installment of it', () => {
    expect(rowKey(row())).toBe('2026-12-01 SCHEDULED');
    expect(blockedReasons(row({ held: { ...NONE_HELD, KYC_PENDING: 2, REFUND_IN_PROGRESS: 1 } }))).toEqual([
      'REFUND_IN_PROGRESS',
      'KYC_PENDING',
    ]);
  });
});

describe('changes of installments', () => {
  test('create a row of new installments', () => {
    const installments = [installment('a', { deductedMinor: 5n }), installment('b', { advancedMinor: 7n })];
    expect(
      applyToReleases(
        [],
        installments.map((after) => ({ before: null, after })),
      ),
    ).toEqual([
      row({ grossMinor: 220n, feesMinor: 20n, deductedMinor: 5n, advancedMinor: 7n, salesCount: 2 }),
    ]);
  });

  test('move an installment with all its amounts from its previous row to its new one', () => {
    const before = installment('a', { deductedMinor: 10n, advancedMinor: 20n });
    const after = { ...before, released: true, deductedMinor: 15n };
    const others = row({ status: 'RELEASED' });
    const touched = applyToReleases([row(), others, row({ date: '2026-12-02' })], [{ before, after }]);
    expect(touched).toEqual([
      row({ grossMinor: 110n, feesMinor: 10n, deductedMinor: 20n, advancedMinor: 30n, salesCount: 1 }),
      row({
        status: 'RELEASED',
        salesCount: 3,
        grossMinor: 330n,
        feesMinor: 30n,
        deductedMinor: 45n,
        advancedMinor: 70n,
      }),
    ]);
  });

  test('count each reason once per installment, and return an empty row for deletion', () => {
    const before = installment('a');
    const saleBlocks = [
      { reason: 'KYC_PENDING', sourceId: '1' },
      { reason: 'KYC_PENDING', sourceId: '2' },
      { reason: 'HOLD_OR_DISPUTE', sourceId: '1' },
    ] as const;
    const scheduled = applyToReleases([], [{ before: null, after: before }]);
    const [emptied, blocked] = applyToReleases(scheduled, [{ before, after: { ...before, saleBlocks } }]);
    expect(emptied).toMatchObject({ status: 'SCHEDULED', salesCount: 0, grossMinor: 0n, feesMinor: 0n });
    expect(blocked).toMatchObject({ status: 'BLOCKED', salesCount: 1 });
    expect(blocked!.held).toEqual({ ...NONE_HELD, KYC_PENDING: 1, HOLD_OR_DISPUTE: 1 });
  });
});

describe('the exact range', () => {
  const half = MAX_AMOUNT_MINOR / 2n;

  test.each<[string, ReleaseRow[], string | null]>([
    ['nothing', [], null],
    ['a row up to it', [row({ grossMinor: MAX_AMOUNT_MINOR })], null],
    [
      'a row beyond it',
      [row(), row({ date: '2026-12-02', grossMinor: MAX_AMOUNT_MINOR + 1n })],
      '2026-12-02',
    ],
    [
      'rows of a day up to it',
      [row({ grossMinor: half + 1n }), row({ grossMinor: half, status: 'RELEASED' })],
      null,
    ],
    [
      'rows of a day beyond it',
      [row({ grossMinor: half + 2n }), row({ grossMinor: half, status: 'RELEASED' })],
      DATE,
    ],
    [
      'rows of days apart',
      [row({ grossMinor: half + 2n }), row({ grossMinor: half, date: '2026-12-02' })],
      null,
    ],
  ])('is enforced with the day: %s', (_, rows, date) => {
    const check = () => requireExactSums(rows);
    if (date === null) return expect(check).not.toThrow();
    expect(check).toThrow(expect.objectContaining({ reason: 'AMOUNT_OUT_OF_RANGE', metadata: { date } }));
  });
});
