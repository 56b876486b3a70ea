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
  minimalEnvironment,
  runToCompletion,
  type StopStep,
  stopByPid,
} from '../processes/tracked-process.ts';
import { type PostgresInstallation, preparePostgres } from './postgres-installation.ts';

/** Holds the port and the password. */
const ACCESS_FILE = 'postgres.json';
const ROLE = 'payments';
const DATABASE = 'payments';
const START_ATTEMPTS = 3;

/** SIGINT is PostgreSQL's fast shutdown: it aborts open transactions and keeps everything committed. */
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
/** Autovacuum would visit the databases of all tests in turn, and change their query plans while they run. */
const THROWAWAY_SETTINGS = [
  // Files that run at the same time start many processes on one server.
  'max_connections=500',
  'fsync=off',
  'full_page_writes=off',
  'synchronous_commit=off',
  'autovacuum=off',
  'checkpoint_timeout=1h',
  'max_wal_size=4GB',
];

/** SQLSTATE class of authorization failures; retrying does not help. */
const INVALID_AUTHORIZATION = '28';

export interface PostgresOptions {
  readonly folder: DataFolder;
  readonly log: (line: string) => void;
  /** Collects the server, to stop it even before it is ready. */
  readonly stack?: AsyncDisposableStack;
  /** Trades durability for speed, for tests. Default: false. */
  readonly throwaway?: boolean;
}

/** A PostgreSQL server on this data folder, kept running until `stop`. */
export interface EmbeddedPostgres {
  /** `postgres://…` of the payments database, as its owner. Unchanged by a restart. */
  readonly url: string;
  readonly port: number;
  /** The pid of the current server process. */
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

interface Access {
  readonly port: number;
  readonly password: string;
}

/**
 * Starts PostgreSQL on DATA_DIR/postgres, creating the cluster on first use, and restarts it whenever it ends. Fully
 * durable unless `throwaway`. Resolves when it accepts connections and any restore from a backup has ended. Throws
 * StartError: CHILD_DID_NOT_START, and those of preparePostgres.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { folder, log, throwaway = false } = options;
  const installation = await preparePostgres(folder);
  const stopping = new AbortController();
  options.stack?.defer(() => stopping.abort());
  for (let attempt = 1; ; attempt += 1) {
    const access = await readAccess(folder);
    const initializing = { access, throwaway, signal: stopping.signal };
    await initializeCluster(folder, installation, initializing);
    const supervised = new SupervisedProcess({
      folder,
      name: 'postgres',
      label: 'PostgreSQL',
      command: serverCommand(folder, installation, access, throwaway),
      prepare: () => removeStaleLock(folder.file('postgres')),
      ready: (signal) => waitUntilReady(options, access, signal),
      onDown: (detail) => log(`${detail}; restarting`),
    });
    options.stack?.defer(() => supervised.stop());
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
      // The port was picked at random: if another process has taken it meanwhile, try another one.
      if (attempt === START_ATTEMPTS || (await isFree(access.port))) throw error;
    }
  }
}

/** The port and password of this data folder. A port that another process now uses is replaced. */
async function readAccess(folder: DataFolder): Promise<Access> {
  const text = folder.read(ACCESS_FILE);
  const saved: Partial<Access> = text === undefined ? {} : JSON.parse(text);
  if (saved.port !== undefined && saved.password !== undefined && (await isFree(saved.port))) {
    return { port: saved.port, password: saved.password };
  }
  const access = {
    port: await findFreePort(),
    password: saved.password ?? randomBytes(24).toString('hex'),
  };
  folder.write(ACCESS_FILE, JSON.stringify(access));
  return access;
}

function isFree(port: number): Promise<boolean> {
  return assertPortsFree([{ setting: 'PostgreSQL', port }]).then(
    () => true,
    () => false,
  );
}

interface Initializing {
  readonly access: Access;
  readonly throwaway: boolean;
  /** An abort ends initdb. */
  readonly signal: AbortSignal;
}

/** Creates the cluster in a temporary folder and renames it when complete. */
async function initializeCluster(
  folder: DataFolder,
  { initdb, user }: PostgresInstallation,
  { access, throwaway, signal }: Initializing,
): Promise<void> {
  if (existsSync(folder.file('postgres'))) return;
  const unfinished = folder.file('postgres.unfinished');
  const passwordFile = `${unfinished}/password`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, access.password, { mode: 0o600 });
  if (user) for (const path of [unfinished, passwordFile]) chownSync(path, user.uid, user.gid);
  const command = {
    file: initdb,
    args: [
      `--pgdata=${unfinished}/cluster`,
      `--username=${ROLE}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The same sort order on every machine.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      // SCRAM is slow on purpose; its passwords need no protection here.
      ...(throwaway ? ['--no-sync', '--set=scram_iterations=1'] : []),
    ],
    cwd: folder.path,
    env: minimalEnvironment(),
    user,
  };
  await runToCompletion(folder, 'postgres-init', command, { signal });
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
    env: { ...minimalEnvironment(), LC_MESSAGES: 'C' },
    user,
    stopSteps: STOP_STEPS,
  };
}

/**
 * Removes the postmaster.pid of a killed server. PostgreSQL does so itself, unless another process now has that pid.
 * This process holds the lock on the data folder, so a server still running on the cluster is an orphan: it is stopped.
 */
async function removeStaleLock(cluster: string): Promise<void> {
  const file = `${cluster}/postmaster.pid`;
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  if (identifyProcess(pid)?.commandLine.includes(`-D ${cluster} `)) await stopByPid(pid, STOP_STEPS);
  rmSync(file, { force: true });
}

/**
 * Waits until the server accepts connections and a restore from a backup has ended; a standby never ends its recovery.
 * Says once what to do when the restore is paused at its target, which PostgreSQL does by default.
 */
async function waitUntilReady(
  { folder, log }: PostgresOptions,
  access: Access,
  signal: AbortSignal,
): Promise<void> {
  let isPauseLogged = false;
  while (!signal.aborted) {
    try {
      const recovery = await recoveryOf(access);
      if (recovery === 'ended' || existsSync(folder.file('postgres/standby.signal'))) return;
      if (recovery === 'paused' && !isPauseLogged) {
        isPauseLogged = true;
        log(
          'PostgreSQL has reached the recovery target and waits (recovery_target_action = pause). To continue from ' +
            `this state, run "select pg_wal_replay_resume()" at postgres://${ROLE}@127.0.0.1:${access.port}/postgres ` +
            `with the password in ${folder.file(ACCESS_FILE)}. For another state, stop npm start and restore again.`,
        );
      }
    } catch (error) {
      if (signal.aborted) return;
      if ((error as { code?: string }).code?.startsWith(INVALID_AUTHORIZATION)) throw error;
    }
    await delay(50);
  }
}

/** How far the restore from a backup is: "ended" once it is complete, and if there was none. */
function recoveryOf(access: Access): Promise<'ended' | 'running' | 'paused'> {
  return withClient(access, async (client) => {
    const { rows } = await client.query(
      `SELECT CASE WHEN NOT pg_is_in_recovery() THEN 'ended'
                   WHEN pg_get_wal_replay_pause_state() = 'paused' THEN 'paused' ELSE 'running' END AS state`,
    );
    return rows[0].state;
  });
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
