import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const STARTER = fileURLToPath(new URL('starter.ts', import.meta.url));

/** Another process that uses a data folder, and the pids of what it has started. */
export interface OtherStart {
  readonly process: ChildProcess;
  readonly url?: string;
  readonly postgres?: number;
  readonly temporal?: number;
}

export interface OtherStartOptions {
  readonly postgres?: boolean;
  readonly temporalPort?: number;
  /** Runs in its own process group, as a shell runs a command. */
  readonly ownGroup?: boolean;
}

/** Opens the data folder in another process and starts the given servers there. Rejects when that process ends. */
export async function startInOtherProcess(
  folder: string,
  { postgres = false, temporalPort, ownGroup = false }: OtherStartOptions = {},
): Promise<OtherStart> {
  const args = [STARTER, folder];
  if (postgres) args.push('--postgres');
  if (temporalPort !== undefined) args.push('--temporal', String(temporalPort));
  const child = spawn(process.execPath, args, { detached: ownGroup, stdio: ['ignore', 'pipe', 'ignore'] });
  const failed = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`the other process exited with code ${code}`)),
  );
  failed.catch(() => undefined);
  const [line] = await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), failed]);
  return { ...JSON.parse(line), process: child };
}

/** Kills the process with SIGKILL; its children keep running. */
export async function killAndWait({ process }: OtherStart): Promise<void> {
  process.kill('SIGKILL');
  await once(process, 'exit');
}
