import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type FileLock, isLocked, tryLock } from './file-lock.ts';
import { StartError } from './start-error.ts';

const LOCK_FILE = 'lock';

/** DATA_DIR: all state of `npm start`, locked by the process that uses it. */
export class DataFolder {
  /** Keeps the folders that are open, and so their locks, from being garbage-collected. */
  static readonly #open = new Set<DataFolder>();

  /** Absolute. */
  readonly path: string;
  readonly #lock: FileLock;

  private constructor(path: string, lock: FileLock) {
    this.path = path;
    this.#lock = lock;
  }

  /**
   * Creates the folder if missing and locks it for this process. The kernel releases the lock when the process ends, so
   * a killed start leaves none behind. Files in it become readable by their owner alone. Throws StartError:
   * DATA_FOLDER_IN_USE, DATA_FOLDER_UNREADABLE.
   */
  static open(dataDir: string): DataFolder {
    const path = resolve(dataDir);
    try {
      createFolder(path);
      // Started by root, PostgreSQL runs as another user, who must be able to enter. Files with secrets are 0600.
      chmodSync(path, process.getuid?.() === 0 ? 0o711 : 0o700);
      for (const name of ['run', 'logs']) mkdirSync(join(path, name), { recursive: true, mode: 0o700 });
      const folder = new DataFolder(path, lock(path));
      DataFolder.#open.add(folder);
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        if (entry.isFile()) chmodSync(folder.file(entry.name), 0o600);
      }
      writeFileSync(folder.file('run/owner'), String(process.pid), { mode: 0o600 });
      return folder;
    } catch (error) {
      if (error instanceof StartError) throw error;
      const message = `DATA_DIR ${path} cannot be used: ${(error as Error).message}`;
      throw new StartError('DATA_FOLDER_UNREADABLE', message, { cause: error });
    }
  }

  /** Whether a running process holds the lock. Changes nothing; false when the folder does not exist. */
  static isInUse(dataDir: string): boolean {
    return isLocked(join(dataDir, LOCK_FILE));
  }

  /** The absolute path of a file in the folder. */
  file(name: string): string {
    return join(this.path, name);
  }

  /** The absolute path of a file for others to write, which is created if missing, readable only by its owner (0600). */
  privateFile(name: string): string {
    const path = this.file(name);
    closeSync(openSync(path, 'a', 0o600));
    return path;
  }

  /** The text of a file; undefined when it does not exist. */
  read(name: string): string | undefined {
    return readIfExists(this.file(name));
  }

  /** Replaces a file atomically and durably, readable only by its owner (0600). Creates missing folders. */
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

  /**
   * The JSON of a file; undefined when it does not exist. Throws StartError DATA_FOLDER_UNREADABLE for a damaged file, which
   * says what to do with it.
   */
  readJson(name: string, advice: string): unknown {
    const text = this.read(name);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch (error) {
      const message = `${this.file(name)} is not valid JSON: ${advice}`;
      throw new StartError('DATA_FOLDER_UNREADABLE', message, { cause: error });
    }
  }

  /** Writes a file as JSON, unless it is the same already. */
  writeJson(name: string, value: object): void {
    const text = `${JSON.stringify(value, null, 2)}\n`;
    if (this.read(name) !== text) this.write(name, text);
  }

  /** Releases the lock. */
  close(): void {
    DataFolder.#open.delete(this);
    this.#lock[Symbol.dispose]();
  }
}

/** Creates a folder and those above it. With `recursive`, mkdirSync never returns where nothing can be created, as in /proc. */
function createFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = dirname(path);
  if (above !== path) createFolder(above);
  mkdirSync(path);
}

function lock(path: string): FileLock {
  const held = tryLock(join(path, LOCK_FILE));
  if (held) return held;
  const owner = readIfExists(join(path, 'run/owner')) ?? 'unknown';
  throw new StartError(
    'DATA_FOLDER_IN_USE',
    `DATA_DIR ${path} is in use by another running instance (process ${owner}): stop it, or set another DATA_DIR`,
  );
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
