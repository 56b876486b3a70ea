import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DataFolder } from '../../local/data-folder.ts';
import { newKeyRings } from '../../local/generated-secrets.ts';
import { startPostgres } from '../../local/postgres/postgres-server.ts';

/**
 * Starts a migrated PostgreSQL for a benchmark, which the stack stops. Returns the settings for services on it.
 * @param checkout the folder of another state of this repository, with its migrations. Default: this one.
 */
export async function benchDatabase(
  stack: AsyncDisposableStack,
  checkout = fileURLToPath(new URL('../..', import.meta.url)),
) {
  const path = await mkdtemp(join(tmpdir(), 'payments-bench-'));
  stack.defer(() => rm(path, { recursive: true, force: true }));
  const folder = DataFolder.open(path);
  stack.defer(() => folder.close());
  const postgres = await startPostgres({ folder, log: console.error });
  stack.defer(() => postgres.stop());
  const { migrate } = await import(join(checkout, 'services/platform/database/migrate.ts'));
  await migrate(postgres.url);
  return {
    DATABASE_URL: postgres.url,
    ...newKeyRings(),
    RATE_LIMIT_LIVE: '1000000',
    LOG_LEVEL: 'info',
  };
}
