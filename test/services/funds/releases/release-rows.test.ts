import { describe, expect, test } from 'vitest';
import {
  applyToReleases,
  blockedReasons,
  mergeChanges,
  type ReleaseRow,
  requireExactSums,
  rowKey,
  rowOriginalMinor,
  rowRemainingMinor,
} from '../../../../services/funds/releases/release-rows.ts';
import type { Installment } from '../../../../services/funds/sales/installment.ts';
import { MAX_AMOUNT_MINOR } from '../../../../services/platform/amounts.ts';

const DATE = '2026-12-01';
const NONE_HELD = { HOLD_OR_DISPUTE: 0, REFUND_IN_PROGRESS: 0, KYC_PENDING: 0, COMPLIANCE_HOLD: 0 };

function installment(id: string, given: Partial<Installment> = {}): Installment {
  const amounts = { grossMinor: 110n, feesMinor: 10n, deductedMinor: 0n, advancedMinor: 0n };
  const fresh = { part: 1, split: false, reservation: null, released: false, heldBy: [], version: 1n };
  return { id, saleId: id, number: 1, date: DATE, ...amounts, ...fresh, ...given };
}

const row = (given: Partial<ReleaseRow> = {}): ReleaseRow => {
  const sums = { grossMinor: 220n, feesMinor: 20n, deductedMinor: 30n, advancedMinor: 50n };
  const counts = { salesCount: 2, firstParts: given.salesCount ?? 2, held: NONE_HELD };
  return { date: DATE, status: 'SCHEDULED', ...sums, ...counts, ...given };
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
    const heldBy = [
      { id: '1', reason: 'KYC_PENDING', sourceId: '1' },
      { id: '2', reason: 'KYC_PENDING', sourceId: '2' },
      { id: '3', reason: 'HOLD_OR_DISPUTE', sourceId: '1' },
    ] as const;
    const scheduled = applyToReleases([], [{ before: null, after: before }]);
    const [emptied, blocked] = applyToReleases(scheduled, [{ before, after: { ...before, heldBy } }]);
    expect(emptied).toMatchObject({ status: 'SCHEDULED', salesCount: 0, grossMinor: 0n, feesMinor: 0n });
    expect(blocked).toMatchObject({ status: 'BLOCKED', salesCount: 1 });
    expect(blocked!.held).toEqual({ ...NONE_HELD, KYC_PENDING: 1, HOLD_OR_DISPUTE: 1 });
  });
});

describe('the parts of an installment', () => {
  const heldBy = [{ id: '1', reason: 'KYC_PENDING', sourceId: '1' }] as const;
  const part = (n: number, given: Partial<Installment> = {}) =>
    installment(`part${n}`, { saleId: 'sale', part: n, split: n > 1, ...given });
  const counts = (rows: readonly ReleaseRow[]) =>
    rows.map(({ status, salesCount, firstParts }) => [status, salesCount, firstParts]);
  const whole = part(1, { split: false });
  const rows = applyToReleases(
    [],
    [whole, installment('other')].map((after) => ({ before: null, after })),
  );

  test('count as one sale in each row that they are in, and as one over the day', () => {
    const rest = { before: whole, after: part(1) };
    const held = { before: null, after: part(2, { heldBy }), splitFrom: whole };
    expect(counts(applyToReleases(rows, [rest, held]))).toEqual([
      ['SCHEDULED', 2, 2],
      ['BLOCKED', 1, 0],
    ]);
    const unheld = { before: null, after: part(2), splitFrom: whole };
    expect(counts(applyToReleases(rows, [rest, unheld]))).toEqual([['SCHEDULED', 2, 2]]);
  });

  test('leave a row with the last of them, and enter it with the first', () => {
    const others = [
      installment('other'),
      part(2, { heldBy }),
      installment('x', { saleId: 'sale', number: 2 }),
    ];
    const change = { before: part(1), after: part(1, { heldBy }) };
    const split = applyToReleases(
      [],
      [part(1), ...others].map((after) => ({ before: null, after })),
    );
    expect(counts(split)).toEqual([
      ['SCHEDULED', 3, 3],
      ['BLOCKED', 1, 0],
    ]);
    expect(counts(applyToReleases(split, [change], others))).toEqual([
      ['SCHEDULED', 2, 2],
      ['BLOCKED', 1, 1],
    ]);
    // The same without the other part.
    expect(counts(applyToReleases(split, [change]))).toEqual([
      ['SCHEDULED', 2, 2],
      ['BLOCKED', 2, 1],
    ]);
  });
});

describe('consecutive changes', () => {
  const [one, two, three] = [1n, 2n, 3n].map((deductedMinor) => installment('a', { deductedMinor }));
  const split = (splitFrom: Installment) => ({ before: null, after: installment('b'), splitFrom });

  test('of one installment are merged, of others are kept', () => {
    const other = { before: null, after: installment('b') };
    const both = [{ before: one!, after: two! }, other, { before: two!, after: three! }];
    expect(mergeChanges(both)).toEqual([{ before: one, after: three }, other]);
    const [row] = applyToReleases([rowOfOne(1n)], both.slice(0, 1).concat(both.slice(2)));
    expect(row).toMatchObject({ deductedMinor: 3n, salesCount: 1 });
  });

  test('keep what a part was split from as it was before all of them', () => {
    expect(mergeChanges([split(two!)])).toEqual([split(two!)]);
    expect(mergeChanges([{ before: one!, after: two! }, split(two!)])[1]).toEqual(split(one!));
    const isNew = mergeChanges([{ before: null, after: two! }, split(two!)]);
    expect(isNew[1]).toEqual({ before: null, after: installment('b') });
  });

  const rowOfOne = (deductedMinor: bigint) =>
    row({ grossMinor: 110n, feesMinor: 10n, deductedMinor, advancedMinor: 0n, salesCount: 1 });
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
