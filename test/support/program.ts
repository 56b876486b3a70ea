import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from './compile-cache.ts';

/** A program of the system as its own process. */
export interface Program extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Resolves when it has ended. The exit code is null after a signal. */
  readonly exited: Promise<{ readonly exitCode: number | null; readonly stderr: string }>;
  /** Its standard output so far: its log. */
  logged(): string;
  /** Its standard error so far. */
  errors(): string;
  /** Kills it, as a power cut would. */
  kill(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Starts a program with these settings and no others.
 * @param command a file from the root of the repository, `services/main.ts`, or the arguments of Node.
 * @param via a command that ends by running the one appended to it. Default: it is run directly.
 */
export function startProgram(
  command: string | readonly string[],
  settings: Readonly<NodeJS.ProcessEnv>,
  { via = [], ...options }: Pick<SpawnOptions, 'cwd' | 'stdio'> & { readonly via?: readonly string[] } = {},
): Program {
  const [file, ...args] = [...via, execPath, ...[command].flat()];
  const child: ChildProcess = spawn(file!, args, {
    cwd: ROOT,
    env: { ...COMPILE_CACHE, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const exited = once(child, 'close').then(([exitCode]) => ({ exitCode: exitCode as number | null, stderr }));
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    child,
    exited,
    logged: () => stdout,
    errors: () => stderr,
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
