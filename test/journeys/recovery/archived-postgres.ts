import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { DataFolder } from '../../../local/data-folder.ts';
import { type EmbeddedPostgres, startPostgres } from '../../../local/postgres/postgres-server.ts';
import { migrate } from '../../../services/platform/database/migrate.ts';
import { temporaryDataFolder } from '../../local/temporary-data-folder.ts';
import { configureRecovery, takeBaseBackup } from '../../support/base-backup.ts';
import { query } from '../../support/sql.ts';

const ARCHIVED = { timeout: 30_000, interval: 100 };

/** A PostgreSQL that archives its WAL, as docs/operations/backup-and-restore.md sets it up. */
export class ArchivedPostgres implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;
  readonly #archive: string;
  readonly #folder: DataFolder;
  readonly #backup: DataFolder;
  readonly #original: EmbeddedPostgres;

  private constructor(given: {
    stack: AsyncDisposableStack;
    archive: string;
    folder: DataFolder;
    backup: DataFolder;
    original: EmbeddedPostgres;
  }) {
    this.#stack = given.stack;
    this.#archive = given.archive;
    this.#folder = given.folder;
    this.#backup = given.backup;
    this.#original = given.original;
  }

  static async start(): Promise<ArchivedPostgres> {
    await using stack = new AsyncDisposableStack();
    const archive = mkdtempSync(join(tmpdir(), 'payments-wal-'));
    stack.defer(() => rmSync(archive, { recursive: true, force: true }));
    // PostgreSQL may run as another user.
    chmodSync(archive, 0o777);
    const { folder } = stack.use(temporaryDataFolder());
    const { folder: backup } = stack.use(temporaryDataFolder());
    const options = { folder, log: () => undefined };
    const first = await startPostgres(options);
    await query(
      first.url,
      'alter system set archive_mode = on',
      `alter system set archive_command = 'test ! -f ${archive}/%f && cp %p ${archive}/%f'`,
    );
    await first.stop();
    const original = await startPostgres(options);
    stack.defer(() => original.stop());
    await migrate(original.url);
    return new ArchivedPostgres({ stack: stack.move(), archive, folder, backup, original });
  }

  get url(): string {
    return this.#original.url;
  }

  takeBaseBackup(): Promise<void> {
    return takeBaseBackup(this.url, this.#folder, this.#backup);
  }

  /** By the server's clock. */
  async now(): Promise<string> {
    const [{ now }] = await query(this.url, 'select clock_timestamp()::text as now');
    return now;
  }

  /** Loses the server, once its archive is complete. */
  async lose(): Promise<void> {
    const [{ file }] = await query(this.url, 'select pg_walfile_name(pg_switch_wal()) as file');
    await vi.waitFor(() => {
      if (!existsSync(join(this.#archive, file))) throw new Error(`${file} is not archived`);
    }, ARCHIVED);
    await this.#original.stop();
  }

  /** Starts another server with everything up to the moment. */
  async restore(moment: string): Promise<AsyncDisposable & { readonly url: string }> {
    await using stack = new AsyncDisposableStack();
    const { folder } = stack.use(temporaryDataFolder());
    const files = ['postgres', 'postgres.json'].map((name) => this.#backup.file(name));
    execFileSync('cp', ['-a', ...files, folder.path]);
    configureRecovery('recovery', folder, {
      // The new server's history must not end up among that of the old one.
      archive_mode: 'off',
      restore_command: `cp ${this.#archive}/%f %p`,
      recovery_target_time: moment,
      recovery_target_action: 'promote',
    });
    const restored = await startPostgres({ folder, log: () => undefined });
    stack.defer(() => restored.stop());
    await vi.waitFor(async () => {
      const [{ recovering }] = await query(restored.url, 'select pg_is_in_recovery() as recovering');
      if (recovering) throw new Error('still recovering');
    }, ARCHIVED);
    const started = stack.move();
    return { url: restored.url, [Symbol.asyncDispose]: () => started.disposeAsync() };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
