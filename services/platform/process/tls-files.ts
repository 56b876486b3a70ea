import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { parseCertificates, watchAuthorities, watchCertificate } from './certificate-expiry.ts';
import { CredentialFiles } from './credential-files.ts';

/** Paths of PEM files. */
export interface TlsPaths {
  /** The authorities that this process trusts. */
  readonly caCertPath: string;
  /** The certificate of this process, followed by intermediate authorities. */
  readonly certPath: string;
  readonly keyPath: string;
}

/** What the files contain. */
export interface TlsCredentials {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** The certificate, the key and the authorities of this process, which may be replaced. */
export type TlsFiles = CredentialFiles<TlsCredentials>;

/** Throws when a file cannot be read or used. */
export function openTlsFiles(name: string, paths: TlsPaths, logger: Logger): TlsFiles {
  return new CredentialFiles({
    name,
    logger,
    read: () => readTls(paths) as TlsCredentials,
    onUse: ({ ca, cert }) => {
      watchCertificate(name, cert);
      watchAuthorities(`${name}-ca`, ca);
    },
    describe: ({ cert }) => {
      const { subjectAltName, validTo } = new X509Certificate(cert);
      return { subjectAltName, validTo };
    },
  });
}

/**
 * Reads the given files. Throws an Error when one cannot be read or used, when certificate and key do not match, or
 * when the certificate is not valid now.
 */
export function readTls({ caCertPath, certPath, keyPath }: Partial<TlsPaths>): Partial<TlsCredentials> {
  const [ca, cert, key] = [caCertPath, certPath, keyPath].map((path) =>
    path === undefined ? undefined : readFileSync(path),
  );
  if (ca) requireCertificates(`${caCertPath}`, ca);
  if (cert) requireValidNow(`${certPath}`, requireCertificates(`${certPath}`, cert));
  try {
    createSecureContext({ ca, cert, key });
  } catch (error) {
    throw new Error(`${certPath} and ${keyPath} cannot be used together`, { cause: error });
  }
  return { ca, cert, key };
}

function requireValidNow(path: string, certificate: X509Certificate): void {
  const { validFrom, validFromDate, validTo, validToDate } = certificate;
  const now = Date.now();
  if (validToDate.getTime() <= now) throw new Error(`${path}: expired at ${validTo}`);
  if (validFromDate.getTime() > now) throw new Error(`${path}: not valid before ${validFrom}`);
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
