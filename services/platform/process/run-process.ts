/** Something that runs until it is closed. */
export interface Running {
  close(): Promise<void>;
}

/**
 * Runs a process of the system: starts it, and closes it in order when SIGTERM or SIGINT asks. A start that fails is
 * told on standard error without a stack, and ends the process with 1; a second signal ends it at once.
 */
export async function runProcess(name: string, start: () => Promise<Running>): Promise<void> {
  const running = await runTask(name, start);
  const stop = async () => {
    await running.close();
    process.exit(0);
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

/** Runs something once; a failure is told on standard error without a stack, and ends the process with 1. */
export async function runTask<T>(name: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    console.error(`${name} failed: ${messageOf(error)}`);
    process.exit(1);
  }
}

/** What went wrong, with its cause: `migration 0001_platform.sql failed: permission denied …`. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  return error.cause === undefined ? error.message : `${error.message}: ${messageOf(error.cause)}`;
}
