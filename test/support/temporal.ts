import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { DataFolder } from '../../local/data-folder.ts';
import { findFreePort } from '../../local/ports.ts';
import { StartError } from '../../local/start-error.ts';
import {
  findTemporalProgram,
  type SlowStep,
  type TemporalSearch,
} from '../../local/temporal/temporal-program.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/temporal/search-attributes.ts';

/** A namespace of a Temporal server, for the tests of one file. */
export interface TestNamespace extends AsyncDisposable {
  /** `host:port` of the server. */
  readonly address: string;
  readonly namespace: string;
  /** On the namespace; connects when it is first used. */
  readonly client: Client;
}

/** A Temporal dev server that belongs to one test, with its default namespace. Its state outlives a kill. */
export interface TestTemporal extends TestNamespace {
  /** Of the server that runs now. */
  readonly pid: number | undefined;
  /** Kills it, as a power cut would. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and state. */
  start(): Promise<void>;
  /** Deletes the state of a server that was killed. */
  loseState(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const TYPE_NAMES = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' } as const;

/** For the hook that starts one: the first on a machine is built. */
export const TEMPORAL_START_MS = 15 * 60_000;

interface TemporalOptions {
  /** Further arguments of the server. */
  readonly serverArguments?: readonly string[];
  /** Whether its state must survive a kill. If not, the server does not wait for the disk. Default: true. */
  readonly durable?: boolean;
  /** How much nicer it is than this process. Default: 0. */
  readonly niceness?: number;
}

export async function startTemporal(options: TemporalOptions = {}): Promise<TestTemporal> {
  const { serverArguments: more = [], durable = true, niceness = 0 } = options;
  const program = await temporalProgram();
  const folder = await mkdtemp(join(tmpdir(), 'temporal-test-'));
  const port = await findFreePort();
  const address = `127.0.0.1:${port}`;
  const file = join(folder, 'temporal.db');
  const connection = Connection.lazy({ address });
  let child: ChildProcess | undefined;

  async function start() {
    // Trades memory for the processor time of Go's garbage collector.
    const env = { GOGC: '400', ...process.env };
    const args = ['-n', `${niceness}`, program, ...serverArguments(port, file, durable), ...more];
    child = spawn('nice', args, { stdio: 'ignore', env });
    await answers(child, () =>
      connection.withDeadline(Date.now() + 1_000, () =>
        connection.workflowService.describeNamespace({ namespace: 'default' }),
      ),
    );
  }
  async function kill() {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  await start();
  return {
    address,
    namespace: 'default',
    get pid() {
      return child?.pid;
    },
    client: new Client({ connection }),
    kill,
    start,
    async loseState() {
      for (const suffix of ['', '-wal', '-shm']) await rm(`${file}${suffix}`, { force: true });
    },
    async [Symbol.asyncDispose]() {
      await connection.close();
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function serverArguments(port: number, file: string, durable: boolean): string[] {
  return [
    'server',
    'start-dev',
    '--headless',
    '--ip',
    '127.0.0.1',
    '--port',
    `${port}`,
    '--db-filename',
    file,
    '--sqlite-pragma',
    'journal_mode=wal',
    '--sqlite-pragma',
    `synchronous=${durable ? 'full' : 'off'}`,
    ...SEARCH_ATTRIBUTES.flatMap(({ name, type }) => ['--search-attribute', `${name}=${TYPE_NAMES[type]}`]),
  ];
}

/** Waits until a server that has been started answers this call. */
export async function answers(child: ChildProcess, call: () => Promise<unknown>): Promise<void> {
  const giveUpAt = Date.now() + START_TIMEOUT_MS;
  let lastError: unknown;
  while (Date.now() < giveUpAt) {
    if (child.exitCode !== null) throw new Error(`the Temporal server ended with ${child.exitCode}`);
    try {
      await call();
      return;
    } catch (error) {
      lastError = error;
    }
    await delay(100);
  }
  throw new Error('the Temporal server does not answer', { cause: lastError });
}

/** The path of a real server, found or built as `npm start` does; parallel test files wait for one build. */
export function temporalProgram(): Promise<string> {
  return withSearchLock((search) => findTemporalProgram(search));
}

/** Finds or builds a program while no other process of this user does. */
export async function withSearchLock(find: (search: TemporalSearch) => Promise<string>): Promise<string> {
  for (;;) {
    try {
      const folder = DataFolder.open(join(tmpdir(), `payments-temporal-search-${userInfo().uid}`));
      try {
        const { signal } = new AbortController();
        const onSlowStep = ({ detail }: SlowStep) => console.info(detail);
        return await find({ folder, environment: process.env, onSlowStep, signal });
      } finally {
        folder.close();
      }
    } catch (error) {
      if (!(error instanceof StartError) || error.reason !== 'DATA_FOLDER_IN_USE') throw error;
      await delay(200);
    }
  }
}
