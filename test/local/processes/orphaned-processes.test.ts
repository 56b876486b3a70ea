import { once } from 'node:events';
import { rmSync } from 'node:fs';
import pg from 'pg';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { DataFolder } from '../../../local/data-folder.ts';
import { assertPortsFree, findFreePort } from '../../../local/ports.ts';
import { startPostgres } from '../../../local/postgres/postgres-server.ts';
import { identifyProcess } from '../../../local/processes/process-identity.ts';
import { stopOrphans } from '../../../local/processes/tracked-process.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { makeFolder } from '../temporary-data-folder.ts';
import { killAndWait, type OtherStart, type OtherStartOptions, startInOtherProcess } from './other-start.ts';

/** One data folder for all tests, so that its database cluster is created once. */
const { path, remove: removeFolder } = makeFolder();
const started: OtherStart[] = [];

afterEach(async () => {
  for (const { process } of started.splice(0)) {
    if (process.exitCode === null && process.signalCode === null) {
      process.kill('SIGKILL');
      await once(process, 'exit');
    }
  }
  const folder = DataFolder.open(path);
  await stopOrphans(folder, () => undefined);
  folder.close();
});
afterAll(removeFolder);

async function start(options: OtherStartOptions): Promise<OtherStart & { readonly url: string }> {
  const other = await startInOtherProcess(path, options);
  started.push(other);
  return { ...other, url: other.url! };
}

/** Adds a row to a table that it creates if missing; returns how many rows there are. */
async function addRow(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE TABLE IF NOT EXISTS rows (at timestamptz)');
  await client.query('INSERT INTO rows VALUES (now())');
  const { rows } = await client.query('SELECT count(*)::int AS n FROM rows');
  await client.end();
  return rows[0].n;
}

const isRunning = (pid: number | undefined) => identifyProcess(pid!) !== undefined;

test('after a kill -9, the next start stops the orphaned servers and keeps their data', {
  timeout: TEMPORAL_START_MS,
}, async () => {
  const temporalPort = await findFreePort();
  const first = await start({ postgres: true, temporalPort });
  const rows = await addRow(first.url);
  await killAndWait(first);
  expect([isRunning(first.postgres), isRunning(first.temporal)]).toEqual([true, true]);

  const second = await start({ postgres: true });
  expect([isRunning(first.postgres), isRunning(first.temporal)]).toEqual([false, false]);
  await assertPortsFree([{ setting: 'TEMPORAL_PORT', port: temporalPort }]);
  expect(await addRow(second.url)).toBe(rows + 1);
  await killAndWait(second);

  const folder = DataFolder.open(path);
  const log = vi.fn();
  await stopOrphans(folder, log);
  expect(isRunning(second.postgres)).toBe(false);
  expect(log.mock.calls).toEqual([
    [`stopping postgres (process ${second.postgres}), left over from a killed start`],
  ]);
  folder.close();
});

test('an orphaned PostgreSQL without a pid file in run/ is found by its postmaster.pid and stopped', async () => {
  const first = await start({ postgres: true });
  const rows = await addRow(first.url);
  await killAndWait(first);
  const folder = DataFolder.open(path);
  rmSync(folder.file('run/postgres.pid'));
  const postgres = await startPostgres({ folder, log: () => undefined, throwaway: true });
  expect(isRunning(first.postgres)).toBe(false);
  expect(await addRow(postgres.url)).toBe(rows + 1);
  await postgres.stop();
  folder.close();
});

test('a start on a data folder in use fails and does not touch its processes; neither does Ctrl-C in the terminal', async () => {
  const first = await start({ postgres: true, ownGroup: true });
  const rows = await addRow(first.url);
  await expect(start({ postgres: true })).rejects.toThrow('the other process exited with code 1');
  expect(await addRow(first.url)).toBe(rows + 1);

  process.kill(-first.process.pid!, 'SIGINT');
  await once(first.process, 'exit');
  expect(await addRow(first.url)).toBe(rows + 2);
});
