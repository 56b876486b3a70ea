import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataFolder } from '../data-folder.ts';
import { identifyProcess } from './process-identity.ts';

const LOG_LIMIT_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_BYTES = 4_000;

/** A program to run as a child process. */
export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The user it runs as, where that is another one. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Gives way to everything else on the machine. */
  readonly lowPriority?: boolean;
  /** How it is stopped: each signal in turn, the next after the wait; at last SIGKILL. Default: SIGTERM, 10 s. */
  readonly stopSteps?: readonly StopStep[];
}

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

/** The environment for a child that needs nothing of ours: no settings, no secrets. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

/**
 * A child process that a later start can find again. It is in run/<name>.pid while it runs and writes to
 * logs/<name>.log itself; it has a process group of its own, so Ctrl-C in the terminal reaches this process alone,
 * which then stops its children in order.
 */
export class RecordedChild {
  readonly logFile: string;
  /** Resolves with how it ended: `exit code 1`, `signal SIGKILL`, or why it could not be run. */
  readonly ended: Promise<string>;
  readonly #record: ProcessRecord | undefined;

  constructor(folder: DataFolder, name: string, command: ChildCommand) {
    this.logFile = folder.file(`logs/${name}.log`);
    const pidFile = `run/${name}.pid`;
    const log = openLog(this.logFile);
    const child = spawn(command.file, command.args, {
      cwd: command.cwd,
      env: command.env,
      ...command.user,
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const identity = child.pid === undefined ? undefined : identifyProcess(child.pid);
    if (child.pid !== undefined && identity) {
      const { stopSteps = DEFAULT_STOP_STEPS } = command;
      this.#record = { pid: child.pid, startedAt: identity.startedAt, stopSteps };
      folder.write(pidFile, JSON.stringify(this.#record));
      if (command.lowPriority) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    }
    this.ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
    }).finally(() => rmSync(folder.file(pidFile), { force: true }));
  }

  get pid(): number | undefined {
    return this.#record?.pid;
  }

  /** Stops it by its steps; resolves when it has ended. */
  async stop(): Promise<void> {
    if (this.#record) await stopRecorded(this.#record);
    await this.ended;
  }

  /** The line of its log that most likely says why it ended. */
  lastWords(): string {
    const lines = readFileSync(this.logFile, 'utf8').slice(-LOG_TAIL_BYTES).trim().split('\n');
    return (lines.findLast((line) => /fatal|panic|error|cannot/i.test(line)) ?? lines.at(-1) ?? '').trim();
  }
}

/** Runs a program to its end; rejects unless it ends with code 0. An abort stops it. */
export async function runToEnd(
  folder: DataFolder,
  name: string,
  command: ChildCommand,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const child = new RecordedChild(folder, name, command);
  const stop = () => void child.stop();
  signal?.addEventListener('abort', stop, { once: true });
  const outcome = await child.ended;
  signal?.removeEventListener('abort', stop);
  signal?.throwIfAborted();
  if (outcome !== 'exit code 0') throw new Error(`${name}: ${outcome}: ${child.lastWords()}`);
}

/** Stops the children that a killed start left running on this data folder. */
export async function stopLeftOvers(folder: DataFolder, log: (line: string) => void): Promise<void> {
  const names = readdirSync(folder.file('run')).filter((name) => name.endsWith('.pid'));
  const stopOne = async (name: string) => {
    const record = parseRecord(folder.read(`run/${name}`));
    if (record && isRunning(record)) {
      log(`stopping ${name.slice(0, -'.pid'.length)} (process ${record.pid}), left over from a killed start`);
      await stopRecorded(record);
    }
    rmSync(folder.file(`run/${name}`), { force: true });
  };
  await Promise.all(names.map(stopOne));
}

/** Stops a process that is no child of this one, by the same steps. */
export async function stopStray(pid: number, stopSteps: readonly StopStep[]): Promise<void> {
  const identity = identifyProcess(pid);
  if (identity) await stopRecorded({ pid, startedAt: identity.startedAt, stopSteps });
}

async function stopRecorded(record: ProcessRecord): Promise<void> {
  for (const { signal, waitMs } of [...record.stopSteps, { signal: 'SIGKILL', waitMs: 5_000 } as const]) {
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

function openLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}
