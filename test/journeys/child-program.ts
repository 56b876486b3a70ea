import { type ChildProcess, type Serializable, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from '../support/compile-cache.ts';

/** A program of the system in a separate process. */
export interface ChildProgram extends AsyncDisposable {
  /** Its standard error so far. */
  readonly errors: string;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
  /** Pauses it (SIGSTOP) or lets it continue (SIGCONT). */
  signal(signal: NodeJS.Signals): void;
  /** To the process's `message` event. */
  send(message: Serializable): void;
  /** Calls the listener with what the process sends to its parent. */
  onMessage(listener: (message: unknown) => void): void;
  /** The signal or the exit code it ended with. Sends SIGTERM if it has not ended in that time. */
  ended(withinMs: number): Promise<string | number | null>;
}

/** @param path from the root of the repository. */
export function startProgram(path: string, settings: Record<string, string>): ChildProgram {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [path], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...COMPILE_CACHE, ...settings },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr!.on('data', (text) => {
    errors += text;
  });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const exited = once(child, 'exit');
  const ended = async (withinMs: number) => {
    const late = setTimeout(() => child.kill('SIGTERM'), withinMs);
    await exited;
    clearTimeout(late);
    return child.signalCode ?? child.exitCode;
  };
  return {
    ended,
    get errors() {
      return errors;
    },
    kill,
    signal: (signal) => void child.kill(signal),
    send: (message) => void child.send(message),
    onMessage: (listener) => void child.on('message', listener),
    [Symbol.asyncDispose]: kill,
  };
}
