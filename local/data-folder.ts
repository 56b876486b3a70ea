import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from './start-error.ts';

const SQLITE_BUSY = 5;

/** DATA_DIR: all state of `npm start`, locked by the process that runs on it. */
export class DataFolder {
  /** Absolute. */
  readonly path: string;
  readonly #lock: DatabaseSync;

  private constructor(path: string, lock: DatabaseSync) {
    this.path = path;
    this.#lock = lock;
  }

  /**
   * Makes the folder where it is missing and locks it for this process. The kernel frees the lock with the process,
   * so a killed start never leaves one behind. Throws StartError: DATA_FOLDER_IN_USE, DATA_FOLDER_UNREADABLE.
   */
  static open(folder: string): DataFolder {
    const path = resolve(folder);
    try {
      mkdirSync(path, { recursive: true });
      // As root PostgreSQL runs as another user, who has to pass through; every secret has a mode of its own.
      chmodSync(path, process.getuid?.() === 0 ? 0o711 : 0o700);
      for (const name of ['run', 'logs']) mkdirSync(join(path, name), { recursive: true, mode: 0o700 });
      const opened = new DataFolder(path, lock(path));
      writeFileSync(opened.file('run/owner'), String(process.pid), { mode: 0o600 });
      return opened;
    } catch (error) {
      if (error instanceof StartError) throw error;
      const message = `DATA_DIR ${path} cannot be used: ${(error as Error).message}`;
      throw new StartError('DATA_FOLDER_UNREADABLE', message, { cause: error });
    }
  }

  /** The absolute path of a file in the folder. */
  file(name: string): string {
    return join(this.path, name);
  }

  /** The text of a file; undefined when there is none. */
  read(name: string): string | undefined {
    return readIfThere(this.file(name));
  }

  /** Writes a file whole or not at all, on disk when it returns; made readable by the owner alone (0600). */
  write(name: string, text: string): void {
    const path = this.file(name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const temporary = `${path}.${process.pid}.tmp`;
    writeFileSync(temporary, text, { mode: 0o600, flush: true });
    renameSync(temporary, path);
    const parent = openSync(dirname(path), 'r');
    fsyncSync(parent);
    closeSync(parent);
  }

  /** Frees the lock. */
  close(): void {
    this.#lock.close();
  }
}

/** SQLite's lock is the one file lock that Node has built in. */
function lock(path: string): DatabaseSync {
  const file = new DatabaseSync(join(path, 'lock'));
  try {
    file.exec('BEGIN EXCLUSIVE');
    return file;
  } catch (error) {
    file.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    const owner = readIfThere(join(path, 'run/owner')) ?? 'unknown';
    throw new StartError(
      'DATA_FOLDER_IN_USE',
      `DATA_DIR ${path} is in use by another running instance (process ${owner}): stop it, or set another DATA_DIR`,
    );
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
