import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { COMPILE_CACHE } from './compile-cache.ts';

/** One of the runtimes as its own process, killed with its test at the latest. */
export interface RuntimeProcess {
  readonly child: ChildProcess;
  /** Resolves when it ends. */
  readonly exited: Promise<{ readonly exitCode: number | null; readonly stderr: string }>;
  /** Its log so far. */
  logged(): string;
}

/**
 * Runs a file of the repository, `services/main.ts`, with these settings and no others.
 * @param atEnd registers what kills it at the latest. Default: at the end of the test.
 * @param via a command that ends by running the one appended to it. Default: it is run directly.
 */
export function startRuntime(
  file: string,
  settings: Readonly<Record<string, string>>,
  atEnd: (kill: () => void) => void = onTestFinished,
  via: readonly string[] = [],
): RuntimeProcess {
  const script = new URL(`../../${file}`, import.meta.url).pathname;
  const [command, ...args] = [...via, process.execPath, script];
  const child = spawn(command!, args, {
    env: { ...COMPILE_CACHE, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atEnd(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const exited = once(child, 'close').then(([exitCode]) => ({ exitCode: exitCode as number | null, stderr }));
  return { child, exited, logged: () => stdout };
}
