import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;
/** Outlasts `isLocked`, which holds a read lock for a moment. */
const TIMEOUT_MS = 100;

/** A lock that is held until it is disposed of, or until the process ends, however it ends. */
export type FileLock = Disposable;

/**
 * Locks a file for this process, and creates it if it is missing. Returns undefined if it is locked already. Node has no
 * file locks, so this holds one of SQLite's. Keep the lock reachable: garbage collection releases it.
 */
export function tryLock(path: string): FileLock | undefined {
  const file = new DatabaseSync(path, { timeout: TIMEOUT_MS });
  try {
    file.exec('BEGIN EXCLUSIVE');
    return file;
  } catch (error) {
    file.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/** Whether a running process holds the lock. Changes nothing; false when the file does not exist. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  using file = new DatabaseSync(path, { readOnly: true });
  try {
    file.prepare('SELECT name FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === SQLITE_BUSY;
}
