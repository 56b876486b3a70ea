import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { DataFolder } from '../data-folder.ts';
import { assertPortsFree, findFreePort } from '../ports.ts';
import { identifyProcess } from '../processes/process-identity.ts';
import { SupervisedProcess } from '../processes/supervised-process.ts';
import {
  type ChildCommand,
  plainEnvironment,
  runToEnd,
  type StopStep,
  stopStray,
} from '../processes/tracked-process.ts';
import { type PostgresInstallation, preparePostgres } from './postgres-installation.ts';

const ROLE = 'payments';
const DATABASE = 'payments';
const FIRST_START_TRIES = 3;

/** SIGINT is PostgreSQL's fast shutdown: open transactions end, nothing that committed is lost. */
const STOP_STEPS: readonly StopStep[] = [
  { signal: 'SIGINT', waitMs: 20_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
];

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'timezone=UTC',
  'log_timezone=UTC',
];
const THROWAWAY_SETTINGS = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off'];

/** SQLSTATE class of a refused login: the one answer that no waiting cures. */
const LOGIN_REFUSED = '28';

export interface PostgresOptions {
  readonly folder: DataFolder;
  readonly log: (line: string) => void;
  /** For databases of tests, which are thrown away: quicker, and lost when the machine dies. Default: off. */
  readonly throwaway?: boolean;
}

/** A PostgreSQL of this data folder, kept running until it is stopped. */
export interface EmbeddedPostgres {
  /** `postgres://…` of the payments database, as the owner of everything in it. The same after a restart. */
  readonly url: string;
  readonly port: number;
  /** Of the server that runs now. */
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

interface Access {
  readonly port: number;
  readonly password: string;
}

/**
 * Starts PostgreSQL on DATA_DIR/postgres, which is made the first time, with full durability, and starts it again
 * whenever it dies. Resolves when it answers. Throws StartError, as preparePostgres does, or CHILD_DID_NOT_START.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { folder, log, throwaway = false } = options;
  const installation = await preparePostgres(folder);
  for (let tries = 1; ; tries += 1) {
    const access = await readAccess(folder);
    await initialise(folder, installation, access, throwaway);
    const supervised = new SupervisedProcess({
      folder,
      name: 'postgres',
      label: 'PostgreSQL',
      command: serverCommand(folder, installation, access, throwaway),
      prepare: () => clearStaleLock(folder.file('postgres')),
      ready: (signal) => answers(access, signal),
      onDown: (detail) => log(`${detail}; starting it again`),
    });
    try {
      await supervised.start();
      await createDatabase(access);
      return {
        url: urlOf(access, DATABASE),
        port: access.port,
        get pid() {
          return supervised.pid;
        },
        stop: () => supervised.stop(),
      };
    } catch (error) {
      await supervised.stop();
      // Nobody chose this port: when another process was quicker to take it, the next try has another one.
      if (tries === FIRST_START_TRIES || (await isFree(access.port))) throw error;
    }
  }
}

/** Port and password of this data folder; a port that others use by now is replaced. */
async function readAccess(folder: DataFolder): Promise<Access> {
  const text = folder.read('postgres.json');
  const kept: Partial<Access> = text === undefined ? {} : JSON.parse(text);
  if (kept.port !== undefined && kept.password !== undefined && (await isFree(kept.port))) {
    return { port: kept.port, password: kept.password };
  }
  const access = {
    port: await findFreePort(),
    password: kept.password ?? randomBytes(24).toString('hex'),
  };
  folder.write('postgres.json', JSON.stringify(access));
  return access;
}

function isFree(port: number): Promise<boolean> {
  return assertPortsFree([{ setting: 'PostgreSQL', port }]).then(
    () => true,
    () => false,
  );
}

/** Makes the cluster beside its place and moves it there when it is whole. */
async function initialise(
  folder: DataFolder,
  { initdb, user }: PostgresInstallation,
  { password }: Access,
  throwaway: boolean,
): Promise<void> {
  if (existsSync(folder.file('postgres'))) return;
  const unfinished = folder.file('postgres.unfinished');
  const passwordFile = `${unfinished}/password`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user) for (const path of [unfinished, passwordFile]) chownSync(path, user.uid, user.gid);
  await runToEnd(folder, 'postgres-init', {
    file: initdb,
    args: [
      `--pgdata=${unfinished}/cluster`,
      `--username=${ROLE}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The same order of texts on every machine.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(throwaway ? ['--no-sync'] : []),
    ],
    cwd: folder.path,
    env: plainEnvironment(),
    user,
  });
  renameSync(`${unfinished}/cluster`, folder.file('postgres'));
  rmSync(unfinished, { recursive: true });
}

function serverCommand(
  folder: DataFolder,
  { postgres, user }: PostgresInstallation,
  { port }: Access,
  throwaway: boolean,
): ChildCommand {
  const settings = [`port=${port}`, ...SETTINGS, ...(throwaway ? THROWAWAY_SETTINGS : [])];
  return {
    file: postgres,
    args: ['-D', folder.file('postgres'), ...settings.flatMap((setting) => ['-c', setting])],
    cwd: folder.path,
    env: { ...plainEnvironment(), LC_MESSAGES: 'C' },
    user,
    stopSteps: STOP_STEPS,
  };
}

/**
 * Clears postmaster.pid of a server that was killed. PostgreSQL does so itself, but not when another process has the
 * number by now. The data folder is ours alone, so a server that does run on it is a left-over, and is stopped.
 */
async function clearStaleLock(cluster: string): Promise<void> {
  const file = `${cluster}/postmaster.pid`;
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  if (identifyProcess(pid)?.commandLine.includes(`-D ${cluster} `)) await stopStray(pid, STOP_STEPS);
  rmSync(file, { force: true });
}

async function answers(access: Access, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await withClient(access, async () => undefined);
    } catch (error) {
      if (signal.aborted) return;
      if ((error as { code?: string }).code?.startsWith(LOGIN_REFUSED)) throw error;
      await delay(50);
    }
  }
}

async function createDatabase(access: Access): Promise<void> {
  await withClient(access, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  });
}

async function withClient<T>(access: Access, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: urlOf(access, 'postgres'),
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

function urlOf({ port, password }: Access, database: string): string {
  return `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}`;
}
