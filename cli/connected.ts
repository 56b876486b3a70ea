import { setTimeout as delay } from 'node:timers/promises';
import { CommandFailure } from './command-failure.ts';

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;

interface Connection {
  /** Aborted when the user stops the command. */
  readonly signal: AbortSignal;
  /** Called when the connection is lost, with the wait before it is opened again. */
  onLost(reason: string, waitMs: number): void;
}

/**
 * Yields the messages of a stream and reconnects when it ends, after waits that grow from one second to half a minute.
 * Throws if the first connection fails, unless because the sandbox is unavailable, or if no later one can succeed.
 * @param open yields undefined for what only shows that the connection is open.
 */
export async function* whileConnected<Message>(
  open: () => AsyncIterable<Message | undefined>,
  { signal, onLost }: Connection,
): AsyncGenerator<Message> {
  let wasOpen = false;
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    let reason = 'The connection ended.';
    try {
      for await (const message of open()) {
        wasOpen = true;
        waitMs = FIRST_WAIT_MS;
        if (message !== undefined) yield message;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof CommandFailure)) throw error;
      if (!(wasOpen ? error.isTemporary : error.isUnavailable)) throw error;
      reason = error.message;
    }
    if (signal.aborted) return;
    const jitteredMs = Math.round(waitMs * (0.75 + Math.random() / 2));
    onLost(reason, jitteredMs);
    await delay(jitteredMs, undefined, { signal }).catch(() => undefined);
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
  }
}
