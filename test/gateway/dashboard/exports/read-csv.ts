import type { CsvFormat } from '../../../../gateway/dashboard/exports/csv.ts';

const SEPARATORS = { br: ';', intl: ',' } as const;

/** The lines of a CSV file by column, as a spreadsheet reads them. */
export function readCsv(text: string, format: CsvFormat = 'br'): Record<string, string>[] {
  const [header = [], ...lines] = cellsOf(text.replace(/^\uFEFF/, ''), SEPARATORS[format]);
  return lines.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ''])));
}

/** An amount of a cell, in centavos. */
export const minorOf = (cell: string): bigint => BigInt(cell.replace(/[.,]/, ''));

/** The sum of a column over the items of a file. */
export const sumOf = (lines: readonly Record<string, string>[], column: string): bigint =>
  lines.filter(({ line }) => line === 'item').reduce((sum, row) => sum + minorOf(row[column]!), 0n);

function cellsOf(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let [row, cell, quoted]: [string[], string, boolean] = [[], '', false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = '';
    } else if (character === '\r' && text[at + 1] === '\n') {
      rows.push([...row, cell]);
      [row, cell] = [[], ''];
      at += 1;
    } else cell += character;
  }
  return rows;
}
