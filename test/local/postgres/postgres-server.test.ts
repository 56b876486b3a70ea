import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { assertDatabaseReachable } from '../../../local/postgres/external-database.ts';
import { type EmbeddedPostgres, startPostgres } from '../../../local/postgres/postgres-server.ts';
import { identifyProcess } from '../../../local/processes/process-identity.ts';
import { configureRecovery, takeBaseBackup } from '../../support/base-backup.ts';
import { temporaryDataFolder } from '../temporary-data-folder.ts';

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const data = temporaryDataFolder();
const log = vi.fn();
const start = (): Promise<EmbeddedPostgres> => startPostgres({ folder: data.folder, log });
let postgres: EmbeddedPostgres;

beforeAll(async () => {
  postgres = await start();
  await query(postgres.url, 'CREATE TABLE kept (id int)');
});

afterAll(async () => {
  await postgres.stop();
  data[Symbol.dispose]();
});

describe('the server', () => {
  test('is durable, listens on loopback only and allows 200 connections', async () => {
    const rows = await query(
      postgres.url,
      `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes',
        'max_connections', 'listen_addresses', 'unix_socket_directories', 'TimeZone', 'server_encoding')`,
    );
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      max_connections: '200',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      TimeZone: 'UTC',
      server_encoding: 'UTF8',
    });
  });

  test('rejects a wrong password', async () => {
    await expect(query(postgres.url.replace(/:\w{48}@/, ':guess@'), 'SELECT 1')).rejects.toThrow(
      'password authentication failed',
    );
  });

  test('sorts text by code point, whatever the locale of the machine', async () => {
    const rows = await query(postgres.url, `SELECT t FROM unnest('{a,Z,á,B}'::text[]) AS t ORDER BY t`);
    expect(rows.map(({ t }) => t)).toEqual(['B', 'Z', 'a', 'á']);
  });
});

test('a first start that is stopped leaves nothing running', async () => {
  using other = temporaryDataFolder();
  const stack = new AsyncDisposableStack();
  const stopped = expect(startPostgres({ folder: other.folder, log, stack })).rejects.toThrow('aborted');
  const record = other.folder.file('run/postgres-init.pid');
  await vi.waitFor(() => expect(existsSync(record)).toBe(true), { interval: 5 });
  const { pid } = JSON.parse(readFileSync(record, 'utf8'));
  await stack.disposeAsync();
  await stopped;
  expect(identifyProcess(pid)).toBeUndefined();
  expect(existsSync(other.folder.file('postgres'))).toBe(false);
});

test('a restore to a moment has ended when the server is ready', async () => {
  await using stack = new AsyncDisposableStack();
  const { folder } = stack.use(temporaryDataFolder());
  await takeBaseBackup(postgres.url, data.folder, folder);
  configureRecovery('recovery', folder, {
    // The server accepts reads while it waits for WAL that does not exist.
    restore_command: `cp ${data.folder.file('postgres')}/pg_wal/%f %p || { sleep 0.5; false; }`,
  });
  const restored = await startPostgres({ folder, log });
  stack.defer(() => restored.stop());
  expect(await query(restored.url, 'SELECT pg_is_in_recovery() AS recovering')).toEqual([
    { recovering: false },
  ]);
});

test('a restore that is paused at its target can be stopped, and says once how to end it', async () => {
  using restored = temporaryDataFolder();
  const { folder } = restored;
  await takeBaseBackup(postgres.url, data.folder, folder);
  configureRecovery('recovery', folder, {
    restore_command: `cp ${data.folder.file('postgres')}/pg_wal/%f %p`,
    recovery_target: 'immediate',
    recovery_target_action: 'pause',
  });
  /** Resolves once it is paused. */
  const startPaused = async (stack: AsyncDisposableStack) => {
    const lines: string[] = [];
    const starting = startPostgres({ folder, log: (line) => lines.push(line), stack });
    starting.catch(() => undefined);
    await vi.waitFor(() => expect(lines).not.toEqual([]), { timeout: 40_000 });
    const [, statement, url] = /run "(.*)" at (\S+)/.exec(lines[0]!)!;
    const { password } = JSON.parse(folder.read('postgres.json')!);
    const access = url!.replace('@', `:${password}@`);
    return { starting, lines, access, resume: () => query(access, statement!) };
  };
  const stopped = new AsyncDisposableStack();
  const { starting, resume } = await startPaused(stopped);
  await stopped.disposeAsync();
  await expect(resume()).rejects.toThrow('ECONNREFUSED');
  await expect(starting).rejects.toThrow();

  await using stack = new AsyncDisposableStack();
  const paused = await startPaused(stack);
  await expect(assertDatabaseReachable(paused.access)).rejects.toMatchObject({
    reason: 'DATABASE_UNREACHABLE',
    message: expect.stringContaining('in recovery'),
  });
  await paused.resume();
  await paused.starting;
  expect(paused.lines).toHaveLength(1);
});

describe('a server that dies', () => {
  test('is restarted at the same address with all committed data', async () => {
    await query(postgres.url, 'INSERT INTO kept VALUES (1)');
    const died = postgres.pid!;
    process.kill(died, 'SIGKILL');
    await vi.waitFor(
      async () => expect(await query(postgres.url, 'SELECT id FROM kept')).toEqual([{ id: 1 }]),
      {
        timeout: 40_000,
        interval: 100,
      },
    );
    expect(postgres.pid).not.toBe(died);
    expect(log).toHaveBeenCalledWith('PostgreSQL ended with signal SIGKILL; restarting');
  });
});

describe('a second start', () => {
  test('has the same data at the same address', async () => {
    const { url } = postgres;
    await query(url, 'INSERT INTO kept VALUES (2)');
    await postgres.stop();
    await expect(query(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
    postgres = await start();
    expect(postgres.url).toBe(url);
    expect(await query(url, 'SELECT id FROM kept WHERE id = 2')).toEqual([{ id: 2 }]);
  });

  test('uses another port when another process has taken the previous one', async () => {
    const { port } = postgres;
    await postgres.stop();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    postgres = await start();
    expect(postgres.port).not.toBe(port);
    await query(postgres.url, 'SELECT id FROM kept');
  });

  test('ignores the lock file of a killed server whose pid another process now has', async () => {
    const file = data.folder.file('postgres/postmaster.pid');
    const lines = readFileSync(file, 'utf8').split('\n');
    await postgres.stop();
    // Owned by the server's user: PostgreSQL checks only processes of that user.
    const { uid, gid } = statSync(data.folder.file('postgres'));
    const bystander = spawn('sleep', ['60'], process.getuid?.() === 0 ? { uid, gid } : {});
    onTestFinished(() => void bystander.kill());
    await once(bystander, 'spawn');
    writeFileSync(file, [bystander.pid, ...lines.slice(1)].join('\n'));
    postgres = await start();
    await query(postgres.url, 'SELECT id FROM kept');
    expect(identifyProcess(bystander.pid!)).toBeDefined();
  });

  test('reports a cluster that PostgreSQL refuses in one line with its reason', async () => {
    await postgres.stop();
    writeFileSync(data.folder.file('postgres/PG_VERSION'), '12\n');
    await expect(start()).rejects.toMatchObject({
      reason: 'CHILD_DID_NOT_START',
      message: expect.stringMatching(/^PostgreSQL did not start \(exit code 1\): .*incompatible[^\n]*$/),
    });
  });
});
