/** A cell: text, an amount in centavos (bigint), a count (number), or nothing. */
type Cell = string | bigint | number | undefined;

/** A column of a CSV file; names never change, so that programs can rely on them. */
export interface CsvColumn<Row> {
  readonly name: string;
  cell(row: Row): Cell;
  /** Whether the total line has the sum of the column. */
  readonly isSum?: boolean;
}

/** How numbers are written, and what separates cells. */
export const CSV_FORMATS = {
  /** The format of spreadsheets with Brazilian settings. */
  br: { separator: ';', decimal: ',' },
  /** RFC 4180, for programs and spreadsheets with English settings. */
  intl: { separator: ',', decimal: '.' },
} as const;

export type CsvFormat = keyof typeof CSV_FORMATS;

const BYTE_ORDER_MARK = '\uFEFF';
const NEW_LINE = '\r\n';
/** Spreadsheets take text that begins with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const LINE = 'line';

/**
 * Writes CSV line by line, so that a file of any length takes little memory: UTF-8 with a byte order mark, which Excel needs
 * to recognize it. The first column says what each line is, `item` for a row of the list.
 */
export class CsvWriter<Row> {
  readonly #columns: readonly CsvColumn<Row>[];
  readonly #format: (typeof CSV_FORMATS)[CsvFormat];
  readonly #sums: bigint[];

  constructor(columns: readonly CsvColumn<Row>[], format: CsvFormat) {
    this.#columns = columns;
    this.#format = CSV_FORMATS[format];
    this.#sums = columns.map(() => 0n);
  }

  /** The names of the columns; begins the file. */
  header(): string {
    return BYTE_ORDER_MARK + this.#line([LINE, ...this.#columns.map(({ name }) => name)]);
  }

  /** Rows of the list, which the total adds up. */
  items(rows: readonly Row[]): string {
    return rows.map((row) => this.#item(row)).join('');
  }

  /** A line that does not count in the total, with the given cells by column. */
  other(kind: string, cells: Readonly<Record<string, Cell>>): string {
    return this.#line([kind, ...this.#columns.map(({ name }) => cells[name])]);
  }

  /** The sums of the items so far. */
  total(): string {
    return this.#line([
      'total',
      ...this.#columns.map(({ isSum }, index) => (isSum ? this.#sums[index] : undefined)),
    ]);
  }

  #item(row: Row): string {
    const cells = this.#columns.map(({ cell, isSum }, index) => {
      const value = cell(row);
      if (isSum && typeof value === 'bigint') this.#sums[index]! += value;
      return value;
    });
    return this.#line(['item', ...cells]);
  }

  #line(cells: readonly Cell[]): string {
    return cells.map((cell) => this.#text(cell)).join(this.#format.separator) + NEW_LINE;
  }

  #text(cell: Cell): string {
    if (cell === undefined) return '';
    if (typeof cell === 'number') return String(cell);
    if (typeof cell === 'bigint') return decimalText(cell, this.#format.decimal);
    const safe = FORMULA.test(cell) ? `'${cell}` : cell;
    return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }
}

/** An amount in centavos as reais, without symbol or thousands separator: -1234,56. */
function decimalText(amountMinor: bigint, decimal: string): string {
  const [sign, minor] = amountMinor < 0n ? ['-', -amountMinor] : ['', amountMinor];
  const digits = minor.toString().padStart(3, '0');
  return `${sign}${digits.slice(0, -2)}${decimal}${digits.slice(-2)}`;
}
