import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RecordKey } from '../../../services/platform/tenant.ts';
import { compareKeys, mergeRecords, type ReadPage } from '../../../workflows/area-check/merge-records.ts';
import { propertyRuns } from '../../support/property-runs.ts';

type Item = RecordKey & { readonly n: number };

/** Few merchants and ids, so that the sides often share a key. */
const keys = fc.record({
  merchantId: fc.constantFrom('0a', '0b'),
  environment: fc.constantFrom('live' as const, 'test' as const),
  id: fc.constantFrom('1', '2', '3', '9', 'a', 'f'),
});
const sides = fc.array(keys, { maxLength: 20 }).map((list) => {
  const items = list.map((key, n): Item => ({ ...key, n }));
  return items.sort(compareKeys);
});

/** Serves a side in pages of at least this many records; records of one key are on the same page. */
const pagesOf =
  (items: readonly Item[], size: number): ReadPage<Item> =>
  async (after) => {
    const rest = after === undefined ? items : items.filter((item) => compareKeys(item, after) > 0);
    const last = rest[size - 1];
    const records = last ? rest.filter((item) => compareKeys(item, last) <= 0) : rest;
    const { merchantId, environment, id } = last ?? { merchantId: '', environment: 'live', id: '' };
    return { records, next: last && { merchantId, environment, id } };
  };

const textOf = ({ merchantId, environment, id }: RecordKey) => `${merchantId} ${environment} ${id}`;

it('yields each key of either side once, in order, with all its records, from any position and for any page size', async () => {
  await fc.assert(
    fc.asyncProperty(
      sides,
      sides,
      fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 })),
      fc.option(keys, { nil: undefined }),
      async (left, right, [leftSize, rightSize], after) => {
        const found: { key: string; left: readonly Item[]; right: readonly Item[] }[] = [];
        const merged = mergeRecords(pagesOf(left, leftSize), pagesOf(right, rightSize), after);
        for await (const match of merged) found.push({ ...match, key: textOf(match.key) });
        const isAhead = (item: Item) => after === undefined || compareKeys(item, after) > 0;
        const ahead = [...left, ...right].filter(isAhead).map(textOf);
        const expected = [...new Set(ahead)].sort().map((key) => ({
          key,
          left: left.filter((item) => textOf(item) === key),
          right: right.filter((item) => textOf(item) === key),
        }));
        expect(found).toEqual(expected);
      },
    ),
    { numRuns: propertyRuns(200) },
  );
});
