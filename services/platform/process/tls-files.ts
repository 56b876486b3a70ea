import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { parseCertificates, watchAuthorities, watchCertificate } from './certificate-expiry.ts';
import { metrics } from './telemetry.ts';

/** Paths of PEM files. */
export interface TlsPaths {
  /** The authorities whose certificates are accepted from others. */
  readonly caCertPath: string;
  /** What this process shows to others, followed by intermediate authorities. */
  readonly certPath: string;
  readonly keyPath: string;
}

/** What the files contain. */
export interface TlsCredentials {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

const INTERVAL_MS = 5_000;

const refusedFiles = new Gauge({
  name: 'payments_tls_files_refused',
  help: '1 while the TLS files of this name cannot be used and their previous content still is; else 0.',
  labelNames: ['files'],
  registers: [metrics],
});

/**
 * The certificate, the key and the authorities of this process. Their files are read again every five seconds. Content that
 * cannot be used is refused, with a line in the log and in the metrics, and the previous content stays in use.
 */
export class TlsFiles {
  readonly #name: string;
  readonly #paths: TlsPaths;
  readonly #logger: Logger;
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #current: TlsCredentials;
  /** What was refused last, and whether the log says so. */
  #refused: { readonly reason: string; isLogged: boolean } | undefined;

  /**
   * @param name of these files in logs and metrics.
   * Throws when a file cannot be read or used.
   */
  constructor(name: string, paths: TlsPaths, logger: Logger) {
    this.#name = name;
    this.#paths = paths;
    this.#logger = logger;
    this.#current = readUsable(paths);
    this.#watchExpiry();
    refusedFiles.set({ files: name }, 0);
    this.#timer = setInterval(() => this.#look(), INTERVAL_MS).unref();
  }

  get current(): TlsCredentials {
    return this.#current;
  }

  /** Calls back after `current` has changed; returns what ends that. */
  onReplaced(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads the files no more. */
  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    try {
      const found = readUsable(this.#paths);
      this.#refused = undefined;
      refusedFiles.set({ files: this.#name }, 0);
      if (!isDeepStrictEqual(found, this.#current)) this.#replace(found);
    } catch (error) {
      this.#refuse(error as Error);
    }
  }

  #replace(found: TlsCredentials): void {
    this.#current = found;
    this.#watchExpiry();
    const { subjectAltName, validTo } = new X509Certificate(found.cert);
    this.#logger.info(
      { files: this.#name, subjectAltName, validTo },
      'TLS files have been replaced; new connections use them',
    );
    for (const listener of this.#listeners) listener();
  }

  #watchExpiry(): void {
    watchCertificate(this.#name, this.#current.cert);
    watchAuthorities(`${this.#name}-ca`, this.#current.ca);
  }

  /** A certificate may be replaced a moment before its key: only what is still refused at the next look counts. */
  #refuse(error: Error): void {
    const { message: reason } = error;
    if (this.#refused?.reason !== reason) this.#refused = { reason, isLogged: false };
    else if (!this.#refused.isLogged) {
      this.#refused.isLogged = true;
      refusedFiles.set({ files: this.#name }, 1);
      this.#logger.error(
        { err: error, files: this.#name },
        'TLS files cannot be used; the previous ones stay in use',
      );
    }
  }
}

function readUsable({ caCertPath, certPath, keyPath }: TlsPaths): TlsCredentials {
  const [ca, cert, key] = [caCertPath, certPath, keyPath].map((path) => readFileSync(path)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  requireCertificates(caCertPath, ca);
  const leaf = requireCertificates(certPath, cert);
  const now = Date.now();
  if (leaf.validToDate.getTime() <= now) throw new Error(`${certPath}: expired at ${leaf.validTo}`);
  if (leaf.validFromDate.getTime() > now) throw new Error(`${certPath}: not valid before ${leaf.validFrom}`);
  try {
    createSecureContext({ ca, cert, key });
  } catch (error) {
    throw new Error(`${certPath} and ${keyPath} cannot be used together`, { cause: error });
  }
  return { ca, cert, key };
}

/** Parses all certificates of a file; returns the first. */
function requireCertificates(path: string, pem: Buffer): X509Certificate {
  try {
    return parseCertificates(pem)[0]!;
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(`${path}: ${message}`, { cause });
  }
}
