import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { civilDateAt } from '../../../services/platform/civil-date.ts';
import { type Download, streamed } from '../shell/downloads.ts';
import { Failure, reasonOf } from '../shell/failures.ts';
import { type CsvColumn, type CsvFormat, CsvWriter } from './csv.ts';
import { exportTexts } from './export.texts.ts';

/** A CSV file of these lines. `lines` is not called before the browser asks for the content. */
export function csvDownload(name: string, lines: () => AsyncIterable<string>): Download {
  return { name, contentType: 'text/csv; charset=utf-8', read: () => withRefusals(lines) };
}

/** @throws Failure 429 while too many files are being downloaded */
async function* withRefusals(lines: () => AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* lines();
  } catch (error) {
    if (reasonOf(error) !== 'TOO_MANY_EXPORTS') throw error;
    throw Failure.with(429, exportTexts, (t) => t.tooMany, error);
  }
}

interface ListFile<Message, Row> {
  readonly name: string;
  readonly columns: readonly CsvColumn<Row>[];
  readonly format: CsvFormat | undefined;
  /** Calls the streaming RPC. */
  stream(options: { readonly signal: AbortSignal }): AsyncIterable<Message>;
  rowsOf(message: Message): readonly Row[];
}

/** A list as CSV: its rows, and their total in the last line. Without that line, a file is incomplete. */
export function listDownload<Message, Row>(file: ListFile<Message, Row>): Download {
  return csvDownload(file.name, async function* () {
    const csv = new CsvWriter(file.columns, file.format ?? 'br');
    // Sent together with the first rows, so that a refused export is an error page instead of a broken file.
    let header = csv.header();
    for await (const rows of streamed(file.stream, file.rowsOf)) {
      yield header + csv.items(rows);
      header = '';
    }
    yield header + csv.total();
  });
}

/** The date of a time in Brasília; empty when undefined. */
export const csvDate = (at: Timestamp | undefined): string | undefined =>
  at && civilDateAt(timestampDate(at));

/** A time as in every CSV file: ISO 8601 in UTC; empty when undefined. */
export const csvTime = (at: Timestamp | undefined): string | undefined =>
  at && timestampDate(at).toISOString();
