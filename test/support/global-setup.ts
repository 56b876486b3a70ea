import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { DataFolder } from '../../local/data-folder.ts';
import { startPostgres } from '../../local/postgres/postgres-server.ts';
import { migrate } from '../../services/platform/database/migrate.ts';
import { query } from './sql.ts';
import { databaseNamed, TEMPLATE } from './template-database.ts';
import { setUpTemporal } from './temporal-setup.ts';
import { TEST_FOLDER } from './test-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a database of the test server, for creating others. */
    postgresUrl: string;
  }
}

/** Starts the servers that all tests of the run share. */
export default async function setup(project: TestProject) {
  const tearDowns = await Promise.all([setUpPostgres(project), setUpTemporal(project)]);
  return async () => {
    await Promise.all(tearDowns.map((tearDown) => tearDown()));
  };
}

/** One real PostgreSQL for the run; every test file clones its own database from a migrated template. */
async function setUpPostgres(project: TestProject): Promise<() => Promise<void>> {
  const path = await mkdtemp(join(tmpdir(), 'payments-test-'));
  process.env[TEST_FOLDER] = path;
  const folder = DataFolder.open(path);
  const postgres = await startPostgres({ folder, log: console.error, throwaway: true });
  await query(postgres.url, `create database ${TEMPLATE}`);
  await migrate(databaseNamed(postgres.url, TEMPLATE));
  project.provide('postgresUrl', postgres.url);
  return async () => {
    await postgres.stop();
    folder.close();
    // CI deletes what it keeps at its end.
    const kept = process.env.KEEP_TEST_FOLDERS;
    if (kept) await rename(path, join(kept, basename(path)));
    else await rm(path, { recursive: true, force: true });
  };
}
