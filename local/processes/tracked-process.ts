import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataFolder } from '../data-folder.ts';
import { identifyProcess } from './process-identity.ts';

const LOG_LIMIT_BYTES = 10 * 1024 * 1024;
const PID_SUFFIX = '.pid';

/** A program to run as a child process. */
export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Default: the user of this process. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** How much lower its scheduling priority is than that of this process: 0, the default, to 19. */
  readonly niceness?: number;
  /** Signals to stop it with, in order; SIGKILL follows the last one. Default: SIGTERM, 10 s. */
  readonly stopSteps?: readonly StopStep[];
}

/** A signal, and how long to wait for the process to end before the next one. */
export interface StopStep {
  readonly signal: NodeJS.Signals;
  readonly waitMs: number;
}

interface ProcessRecord {
  readonly pid: number;
  readonly startedAt: string;
  readonly stopSteps: readonly StopStep[];
}

const DEFAULT_STOP_STEPS: readonly StopStep[] = [{ signal: 'SIGTERM', waitMs: 10_000 }];
const KILL_STEP: StopStep = { signal: 'SIGKILL', waitMs: 5_000 };

/** The environment for a child that needs none of our settings and secrets. */
export function minimalEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

/**
 * A child process that a later `npm start` can find and stop: run/<name>.pid identifies it while it runs. It writes to
 * logs/<name>.log directly, so its output survives this process. It has its own process group: Ctrl-C in the terminal
 * reaches only this process, which then stops its children in order.
 */
export class TrackedProcess {
  readonly logFile: string;
  /** Resolves with how it ended: `exit code 1`, `signal SIGKILL`, or the reason it could not be run. */
  readonly ended: Promise<string>;
  readonly #record: ProcessRecord | undefined;
  readonly #logOffset: number;

  constructor(folder: DataFolder, name: string, command: ChildCommand) {
    this.logFile = folder.file(`logs/${name}.log`);
    const pidFile = `run/${name}${PID_SUFFIX}`;
    rotateLog(this.logFile);
    const log = openSync(this.logFile, 'a', 0o600);
    this.#logOffset = statSync(this.logFile).size;
    // Only its user can read the files that it creates.
    const umask = process.umask(0o077);
    // By `nice`, which becomes the program: setPriority would only reach the threads that have started so far.
    const nice = command.niceness ? ['nice', '-n', String(command.niceness)] : [];
    const [file, ...args] = [...nice, command.file, ...command.args];
    const child = spawn(file!, args, {
      cwd: command.cwd,
      env: command.env,
      ...command.user,
      detached: true,
      stdio: ['ignore', log, log],
    });
    process.umask(umask);
    closeSync(log);
    const identity = child.pid === undefined ? undefined : identifyProcess(child.pid);
    if (child.pid !== undefined && identity) {
      const { stopSteps = DEFAULT_STOP_STEPS } = command;
      this.#record = { pid: child.pid, startedAt: identity.startedAt, stopSteps };
      folder.write(pidFile, JSON.stringify(this.#record));
    }
    this.ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
    }).finally(() => rmSync(folder.file(pidFile), { force: true }));
  }

  get pid(): number | undefined {
    return this.#record?.pid;
  }

  /** Stops it with its stop steps; resolves when it has ended. */
  async stop(): Promise<void> {
    if (this.#record) await stopRecorded(this.#record);
    await this.ended;
  }

  /** The lines that this process has logged so far; none when its log was deleted. */
  logLines(): string[] {
    if (!existsSync(this.logFile)) return [];
    const text = readFileSync(this.logFile).subarray(this.#logOffset).toString('utf8');
    return text.split('\n').map((line) => line.trim());
  }

  /**
   * The last line that reports an error, else the last one; single words, such as the packages that Go builds, are
   * skipped.
   */
  lastLogLine(): string {
    const messages = this.logLines().filter((line) => line.includes(' '));
    return messages.findLast((line) => /(fatal|panic|error|cannot)\b/i.test(line)) ?? messages.at(-1) ?? '';
  }
}

/**
 * Runs a program and returns its process; rejects with one line unless it exits with code 0. An abort stops it.
 * `onStart` receives the process while it runs.
 */
export async function runToCompletion(
  folder: DataFolder,
  name: string,
  command: ChildCommand,
  { signal, onStart }: { signal?: AbortSignal; onStart?: (process: TrackedProcess) => void } = {},
): Promise<TrackedProcess> {
  signal?.throwIfAborted();
  const child = new TrackedProcess(folder, name, command);
  onStart?.(child);
  const stop = () => void child.stop();
  signal?.addEventListener('abort', stop, { once: true });
  const outcome = await child.ended;
  signal?.removeEventListener('abort', stop);
  signal?.throwIfAborted();
  if (outcome === 'exit code 0') return child;
  throw new Error([name, outcome, child.lastLogLine()].filter((part) => part !== '').join(': '));
}

/** Stops the child processes that a killed `npm start` left running on this data folder. */
export async function stopOrphans(folder: DataFolder, log: (line: string) => void): Promise<void> {
  const files = readdirSync(folder.file('run')).filter((file) => file.endsWith(PID_SUFFIX));
  const stopOne = async (file: string) => {
    const record = parseRecord(folder.read(`run/${file}`));
    if (record && isRunning(record)) {
      log(
        `stopping ${file.slice(0, -PID_SUFFIX.length)} (process ${record.pid}), left over from a killed start`,
      );
      await stopRecorded(record);
    }
    rmSync(folder.file(`run/${file}`), { force: true });
  };
  await Promise.all(files.map(stopOne));
}

/** Stops a process that is not a child of this one, with the same steps. */
export async function stopByPid(pid: number, stopSteps: readonly StopStep[]): Promise<void> {
  const identity = identifyProcess(pid);
  if (identity) await stopRecorded({ pid, startedAt: identity.startedAt, stopSteps });
}

async function stopRecorded(record: ProcessRecord): Promise<void> {
  for (const { signal, waitMs } of [...record.stopSteps, KILL_STEP]) {
    if (!isRunning(record)) return;
    signalGroup(record.pid, signal);
    for (let waitedMs = 0; waitedMs < waitMs && isRunning(record); waitedMs += 20) await delay(20);
  }
}

function isRunning({ pid, startedAt }: ProcessRecord): boolean {
  return identifyProcess(pid)?.startedAt === startedAt;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function parseRecord(text: string | undefined): ProcessRecord | undefined {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function rotateLog(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) renameSync(file, `${file}.1`);
}
