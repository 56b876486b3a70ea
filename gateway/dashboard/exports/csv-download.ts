import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { civilDateAt } from '../../../services/platform/civil-date.ts';
import type { Download } from '../shell/downloads.ts';
import { type CsvColumn, type CsvFormat, CsvWriter } from './csv.ts';

/** A CSV file of these lines. `lines` is not called before the browser asks for the content. */
export function csvDownload(name: string, lines: () => AsyncIterable<string>): Download {
  return { name, contentType: 'text/csv; charset=utf-8', read: () => encoded(lines()) };
}

/** A list as CSV: its rows, and their total in the last line. Without that line, a file is incomplete. */
export function listDownload<Row>(
  name: string,
  columns: readonly CsvColumn<Row>[],
  format: CsvFormat | undefined,
  pages: () => AsyncIterable<readonly Row[]>,
): Download {
  return csvDownload(name, async function* () {
    const csv = new CsvWriter(columns, format ?? 'br');
    // Sent together with the first rows, so that a refused export is an error page instead of a broken file.
    let header = csv.header();
    for await (const rows of pages()) {
      yield header + csv.items(rows);
      header = '';
    }
    yield header + csv.total();
  });
}

async function* encoded(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const line of lines) yield encoder.encode(line);
}

/** The date of a time in Brasília; empty when undefined. */
export const csvDate = (at: Timestamp | undefined): string | undefined =>
  at && civilDateAt(timestampDate(at));

/** A time as in every CSV file: ISO 8601 in UTC; empty when undefined. */
export const csvTime = (at: Timestamp | undefined): string | undefined =>
  at && timestampDate(at).toISOString();
