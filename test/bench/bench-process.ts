import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LISTEN_OPTIONS } from '../../gateway/plugins/listening.ts';
import { allocateInYoungGeneration } from '../../services/platform/process/garbage-collection.ts';

const CPU_USAGE = 'cpu usage';
/** Messages to `services-server.ts`, which sends them back when done. */
export const START_TRACING = 'start tracing';
export const STOP_TRACING = 'stop tracing';

/** A benchmark's server in a separate process. */
export interface BenchProcess {
  readonly url: string;
  readonly child: ChildProcess;
}

/**
 * In a server's process: listens on a free port and tells the bench which. The bare servers have the same setting of V8 as
 * ours; it makes no difference to them.
 */
export async function announcePort(app: {
  listen(options: typeof LISTEN_OPTIONS & { host: string; port: number }): Promise<unknown>;
  server: { address(): AddressInfo | string | null };
}): Promise<void> {
  allocateInYoungGeneration();
  await app.listen({ ...LISTEN_OPTIONS, host: '127.0.0.1', port: 0 });
  process.send?.((app.server.address() as AddressInfo).port);
}

/** In a server's process: responds to {@link cpuMicroseconds}. */
export function answerCpuUsage(): void {
  process.on('message', (message) => {
    if (message !== CPU_USAGE) return;
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
}

/** The CPU time that a server has used so far, on all its threads. */
export const cpuMicroseconds = (server: BenchProcess): Promise<number> => ask(server, CPU_USAGE);

/** Sends a server a message and returns its response. */
export async function ask<T>({ child }: BenchProcess, message: string): Promise<T> {
  child.send(message);
  const [answer] = await once(child, 'message');
  return answer as T;
}

/**
 * Runs a server's file with these settings, without its log.
 * @param checkout the folder of another state of this repository. Default: this one.
 */
export async function startBenchProcess(
  file: string,
  env: Record<string, string>,
  checkout = fileURLToPath(new URL('../..', import.meta.url)),
): Promise<BenchProcess> {
  const child = spawn(process.execPath, [...process.execArgv, join(checkout, 'test/bench', file)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} exited with ${code}`);
  });
  const [port] = await Promise.race([once(child, 'message'), exited]);
  exited.catch(() => undefined);
  return { url: `http://127.0.0.1:${port}`, child };
}
