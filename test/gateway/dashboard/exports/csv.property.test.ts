import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CSV_FORMATS, CsvWriter } from '../../../../gateway/dashboard/exports/csv.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { minorOf, readCsv } from './read-csv.ts';

const row = fc.record({
  text: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.stringMatching(/^[=+\-@\t\r\n;,"'＝＋－＠a]*$/),
    fc.constant('=HYPERLINK("https://evil.example")'),
  ),
  amount: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  count: fc.nat(),
});

test('a spreadsheet reads back every text, amount and sum, and no text as a formula', () => {
  fc.assert(
    fc.property(fc.array(row), fc.constantFrom('br' as const, 'intl' as const), (rows, format) => {
      const csv = new CsvWriter<(typeof rows)[number]>(
        [
          { name: 'text', cell: ({ text }) => text },
          { name: 'amount', cell: ({ amount }) => amount, isSum: true },
          { name: 'count', cell: ({ count }) => count },
        ],
        format,
      );
      const file = csv.header() + csv.items(rows) + csv.total();
      const lines = readCsv(file, format);
      expect(lines.map(({ line }) => line)).toEqual([...rows.map(() => 'item'), 'total']);
      for (const [index, { text, amount, count }] of rows.entries()) {
        const read = lines[index]!;
        expect(read.text).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
        expect(read.text!.replace(/^'/, '')).toBe(text.replace(/^'/, ''));
        expect(read.amount).toMatch(CSV_FORMATS[format].decimal === ',' ? /^-?\d+,\d\d$/ : /^-?\d+\.\d\d$/);
        expect([minorOf(read.amount!), Number(read.count)]).toEqual([amount, count]);
      }
      expect(minorOf(lines.at(-1)!.amount!)).toBe(rows.reduce((sum, { amount }) => sum + amount, 0n));
    }),
    { numRuns: propertyRuns(200) },
  );
});
