import { once } from 'node:events';
import { rmSync } from 'node:fs';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DataFolder } from '../../../local/data-folder.ts';
import { assertPortsFree, findFreePort } from '../../../local/ports.ts';
import { startPostgres } from '../../../local/postgres/postgres-server.ts';
import { identifyProcess } from '../../../local/processes/process-identity.ts';
import { stopLeftOvers } from '../../../local/processes/tracked-process.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { makeFolder } from '../temporary-data-folder.ts';
import { killHard, type StartedElsewhere, startElsewhere } from './other-start.ts';

async function count(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE TABLE IF NOT EXISTS starts (at timestamptz)');
  await client.query('INSERT INTO starts VALUES (now())');
  const { rows } = await client.query('SELECT count(*)::int AS n FROM starts');
  await client.end();
  return rows[0].n;
}

const isRunning = (pid: number | undefined) => identifyProcess(pid!) !== undefined;

function newFolder(): string {
  const { path, remove } = makeFolder();
  onTestFinished(remove);
  return path;
}

test('after a kill -9 of the starter the next start stops what it left and goes on with its data', {
  timeout: TEMPORAL_START_MS,
}, async () => {
  const path = newFolder();
  const temporalPort = await findFreePort();
  const first = await startElsewhere(path, { postgres: true, temporalPort });
  expect(await count(first.url!)).toBe(1);
  await killHard(first);
  expect([isRunning(first.postgres), isRunning(first.temporal)]).toEqual([true, true]);

  const second = await startElsewhere(path, { postgres: true, temporalPort });
  expect([isRunning(first.postgres), isRunning(first.temporal)]).toEqual([false, false]);
  expect(await count(second.url!)).toBe(2);
  await killHard(second);

  const folder = DataFolder.open(path);
  const log = vi.fn();
  await stopLeftOvers(folder, log);
  expect([isRunning(second.postgres), isRunning(second.temporal)]).toEqual([false, false]);
  expect(log).toHaveBeenCalledTimes(2);
  await assertPortsFree([{ setting: 'TEMPORAL_PORT', port: temporalPort }]);
  folder.close();
});

test('a PostgreSQL left over without a pid file of ours is found by its own and stopped', async () => {
  const path = newFolder();
  const first = await startElsewhere(path, { postgres: true });
  expect(await count(first.url!)).toBe(1);
  await killHard(first);
  const folder = DataFolder.open(path);
  rmSync(folder.file('run/postgres.pid'));
  const postgres = await startPostgres({ folder, log: () => undefined, throwaway: true });
  expect(isRunning(first.postgres)).toBe(false);
  expect(await count(postgres.url)).toBe(2);
  await postgres.stop();
  folder.close();
});

test('a start on the folder of a running one leaves its children alone', async () => {
  const path = newFolder();
  const first = await startElsewhere(path, { postgres: true });
  await expect(startElsewhere(path, { postgres: true })).rejects.toThrow('the starter ended with 1');
  expect(await count(first.url!)).toBe(1);
  await clearAway(path, first);
});

test('a Ctrl-C in the terminal reaches no child before its starter stops it', async () => {
  const path = newFolder();
  const first = await startElsewhere(path, { postgres: true, ownGroup: true });
  process.kill(-first.process.pid!, 'SIGINT');
  await once(first.process, 'exit');
  expect(await count(first.url!)).toBe(1);
  await clearAway(path, first);
});

async function clearAway(path: string, started: StartedElsewhere): Promise<void> {
  if (started.process.exitCode === null && started.process.signalCode === null) await killHard(started);
  const folder = DataFolder.open(path);
  await stopLeftOvers(folder, () => undefined);
  folder.close();
}
