import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const STARTER = fileURLToPath(new URL('starter.ts', import.meta.url));

/** What another process has started, as it says. */
export interface StartedElsewhere {
  readonly process: ChildProcess;
  readonly url?: string;
  readonly postgres?: number;
  readonly temporal?: number;
}

export interface ElsewhereOptions {
  readonly postgres?: boolean;
  readonly temporalPort?: number;
  /** In a process group of its own, as a shell starts a command. */
  readonly ownGroup?: boolean;
}

/** Opens the data folder in another process and starts these parts there. Rejects when that process ends instead. */
export async function startElsewhere(
  folder: string,
  { postgres = false, temporalPort, ownGroup = false }: ElsewhereOptions = {},
): Promise<StartedElsewhere> {
  const args = [STARTER, folder];
  if (postgres) args.push('--postgres');
  if (temporalPort !== undefined) args.push('--temporal', String(temporalPort));
  const child = spawn(process.execPath, args, { detached: ownGroup, stdio: ['ignore', 'pipe', 'ignore'] });
  const failed = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`the starter ended with ${code}`)),
  );
  failed.catch(() => undefined);
  const [line] = await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), failed]);
  return { ...JSON.parse(line), process: child };
}

/** Kills it as a power cut would; its children live on. */
export async function killHard({ process }: StartedElsewhere): Promise<void> {
  process.kill('SIGKILL');
  await once(process, 'exit');
}
