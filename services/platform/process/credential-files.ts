import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { metrics } from './telemetry.ts';

const INTERVAL_MS = 5_000;

const refusedFiles = new Gauge({
  name: 'payments_credential_files_refused',
  help: '1 while the certificate or key files of this name cannot be used and their previous content still is; else 0.',
  labelNames: ['files'],
  registers: [metrics],
});

export interface CredentialFilesOptions<T> {
  /** Names the files in logs and metrics. */
  readonly name: string;
  /** Reads the files. Throws an Error that says why their content cannot be used, without repeating it. */
  readonly read: () => T;
  /** Called with the content in use: initially, and after each replacement. */
  readonly onUse?: (content: T) => void;
  /** The log fields of new content. Default: none. */
  readonly describe?: (content: T) => Readonly<Record<string, unknown>>;
  readonly logger: Logger;
}

/**
 * Certificates and keys of this process. Their files are read again every five seconds. Content that cannot be used is
 * refused, with a line in the log and in the metrics, and the previous content stays in use.
 */
export class CredentialFiles<T> {
  readonly #options: CredentialFilesOptions<T>;
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #current: T;
  /** Why the files were last refused, and whether that has been logged. */
  #refused: { readonly reason: string; isLogged: boolean } | undefined;

  /** Throws when the files cannot be read or used. */
  constructor(options: CredentialFilesOptions<T>) {
    this.#options = options;
    this.#current = options.read();
    options.onUse?.(this.#current);
    refusedFiles.set({ files: options.name }, 0);
    this.#timer = setInterval(() => this.#reload(), INTERVAL_MS).unref();
  }

  get current(): T {
    return this.#current;
  }

  /** Calls back after each change of `current`; returns a function that unsubscribes. */
  onReplaced(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Stops reading the files. */
  close(): void {
    clearInterval(this.#timer);
  }

  #reload(): void {
    const { name: files, read } = this.#options;
    try {
      const found = read();
      this.#refused = undefined;
      refusedFiles.set({ files }, 0);
      if (!isDeepStrictEqual(found, this.#current)) this.#replace(found);
    } catch (error) {
      this.#refuse(error as Error);
    }
  }

  #replace(found: T): void {
    const { name: files, onUse, describe, logger } = this.#options;
    this.#current = found;
    onUse?.(found);
    logger.info({ files, ...describe?.(found) }, 'credential files have been replaced');
    for (const listener of this.#listeners) listener();
  }

  /** A certificate may be replaced a moment before its key, so only a second refusal in a row is reported. */
  #refuse(error: Error): void {
    const { name: files, logger } = this.#options;
    const { message: reason } = error;
    if (this.#refused?.reason !== reason) this.#refused = { reason, isLogged: false };
    else if (!this.#refused.isLogged) {
      this.#refused.isLogged = true;
      refusedFiles.set({ files }, 1);
      logger.error({ err: error, files }, 'credential files cannot be used; the previous ones stay in use');
    }
  }
}
