import { setTimeout as delay } from 'node:timers/promises';

/**
 * For what waits for the database: a silent one would take longer than process managers wait, which is ten seconds. Closing its
 * connections takes the rest.
 */
export const WORK_TIMEOUT_MS = 8_000;

/** Waits for something to close, but no longer than this: what is left is cut off when the process ends. */
export async function closeWithin(ms: number, closed: Promise<unknown>): Promise<void> {
  await Promise.race([closed, delay(ms, undefined, { ref: false })]);
}
