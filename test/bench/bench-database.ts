import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataFolder } from '../../local/data-folder.ts';
import { newKeyRings } from '../../local/generated-secrets.ts';
import { startPostgres } from '../../local/postgres/postgres-server.ts';
import { migrate } from '../../services/platform/database/migrate.ts';

/** Starts a migrated PostgreSQL for a benchmark, which the stack stops. Returns the settings for services on it. */
export async function benchDatabase(stack: AsyncDisposableStack) {
  const path = await mkdtemp(join(tmpdir(), 'payments-bench-'));
  stack.defer(() => rm(path, { recursive: true, force: true }));
  const folder = DataFolder.open(path);
  stack.defer(() => folder.close());
  const postgres = await startPostgres({ folder, log: console.error });
  stack.defer(() => postgres.stop());
  await migrate(postgres.url);
  return {
    DATABASE_URL: postgres.url,
    ...newKeyRings(),
    RATE_LIMIT_LIVE: '1000000',
    LOG_LEVEL: 'info',
  };
}
