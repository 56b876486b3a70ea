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

/** Starts on the data folder in a process of its own; with a port, PostgreSQL and Temporal too. */
export async function startElsewhere(folder: string, temporalPort?: number): Promise<StartedElsewhere> {
  const args = [STARTER, folder, ...(temporalPort === undefined ? [] : [String(temporalPort)])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
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
