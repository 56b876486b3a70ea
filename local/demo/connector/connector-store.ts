import { DatabaseSync } from 'node:sqlite';

const SCHEMA = `
create table if not exists submission (
  key text primary key,
  calls integer not null,
  accepted_at integer
) strict;
create table if not exists report (
  id text primary key,
  request text not null,
  due_at integer not null
) strict`;

/** A report to make to RefundCaseService. */
export interface Report {
  /** Also the idempotency key of the report. */
  readonly id: string;
  /** RecordProviderOutcomeRequest as JSON. */
  readonly request: string;
  /** In milliseconds since 1970. */
  readonly dueAt: number;
}

/** Stores what the demo connector has accepted and has to report in a file that outlives the process. */
export class ConnectorStore {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`pragma journal_mode = wal; pragma synchronous = full; ${SCHEMA}`);
  }

  /** Counts a call about a submission, and returns how many there have been. */
  countCall(key: string): number {
    const row = this.#database
      .prepare(
        `insert into submission (key, calls) values (?, 1)
         on conflict (key) do update set calls = calls + 1 returning calls`,
      )
      .get(key);
    return Number(row?.calls);
  }

  /** Accepts a submission with what is to be reported about it. Returns when it was accepted first. */
  accept(key: string, at: Date, reports: readonly Report[] = []): Date {
    this.#database.exec('begin immediate');
    try {
      const { changes } = this.#database
        .prepare('update submission set accepted_at = ? where key = ? and accepted_at is null')
        .run(at.getTime(), key);
      const insert = this.#database.prepare('insert into report (id, request, due_at) values (?, ?, ?)');
      if (changes > 0) for (const { id, request, dueAt } of reports) insert.run(id, request, dueAt);
      const row = this.#database.prepare('select accepted_at from submission where key = ?').get(key);
      this.#database.exec('commit');
      return new Date(Number(row?.accepted_at));
    } catch (error) {
      this.#database.exec('rollback');
      throw error;
    }
  }

  /** The reports that are due, in their order. */
  dueReports(at: Date): Report[] {
    const rows = this.#database
      .prepare('select id, request, due_at from report where due_at <= ? order by due_at, id')
      .all(at.getTime());
    return rows.map((row) => ({
      id: String(row.id),
      request: String(row.request),
      dueAt: Number(row.due_at),
    }));
  }

  /** When the first report is due, in milliseconds since 1970; undefined if there is none. */
  nextDueAt(): number | undefined {
    const dueAt = this.#database.prepare('select min(due_at) as due_at from report').get()?.due_at;
    return typeof dueAt === 'number' ? dueAt : undefined;
  }

  /** Removes a report that was made, or can never be made. */
  endReport(id: string): void {
    this.#database.prepare('delete from report where id = ?').run(id);
  }

  close(): void {
    this.#database.close();
  }
}
