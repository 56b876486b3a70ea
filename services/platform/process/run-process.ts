import { messageOf } from '../errors.ts';
import { stopTracing } from '../tracing/tracing.ts';
import { allocateInYoungGeneration } from './garbage-collection.ts';

/** A process that runs until closed. */
export interface Running {
  close(): Promise<void>;
}

/**
 * Runs a process of the system: starts it, and closes it gracefully on SIGTERM or SIGINT. A failed start is reported on
 * standard error without a stack trace, and exits with 1. A signal during the start, and a second one while it closes,
 * end the process immediately.
 */
export async function runProcess(name: string, start: () => Promise<Running>): Promise<void> {
  allocateInYoungGeneration();
  let running: Running | undefined;
  const stop = async () => {
    process.off('SIGTERM', stop).off('SIGINT', stop);
    await running?.close();
    await stopTracing();
    process.exit(0);
  };
  // Before the start, which may wait for PostgreSQL: the first process of a container ignores signals without a listener.
  process.on('SIGTERM', stop).on('SIGINT', stop);
  running = await runTask(name, start);
}

/** Runs a task once; a failure is reported on standard error without a stack trace, and exits with 1. */
export async function runTask<T>(name: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    console.error(`${name} failed: ${messageOf(error)}`);
    process.exit(1);
  }
}
