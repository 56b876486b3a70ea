import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { TLSConfig } from '@temporalio/client';
import { watchAuthorities, watchCertificate } from '../../services/platform/process/certificate-expiry.ts';
import type { Config, TEMPORAL_SECURITY } from '../../services/platform/process/config.ts';

/** The settings that secure a connection to Temporal. */
export type TemporalSecurity = Partial<Pick<Config, (typeof TEMPORAL_SECURITY)[number]>>;

/** Options that the connections of clients and of workers have in common. */
export interface TemporalConnectionOptions {
  /** `host:port`. */
  readonly address: string;
  readonly tls: TLSConfig | false;
  readonly apiKey?: string;
}

const FILES_INTERVAL_MS = 5_000;

/** Reads the certificates and the key from their files. Throws when one cannot be read, or if they do not belong together. */
export async function readTemporalConnection(
  address: string,
  security: TemporalSecurity = {},
): Promise<TemporalConnectionOptions> {
  const { TEMPORAL_API_KEY: apiKey } = security;
  const tls = usesTls(security) && (await readTls(security));
  return { address, tls, ...(apiKey !== undefined && { apiKey }) };
}

/**
 * Resolves to true once the files have other content than these options, as far as it can be used, and to false when the
 * signal aborts.
 */
export async function replacedCredentials(
  options: TemporalConnectionOptions,
  security: TemporalSecurity,
  signal: AbortSignal,
): Promise<boolean> {
  while (await delay(FILES_INTERVAL_MS, true, { signal, ref: false }).catch(() => false)) {
    // A certificate may be replaced a moment before its key: the files count once they belong together.
    const current = await readTemporalConnection(options.address, security).catch(() => options);
    if (!isDeepStrictEqual(current, options)) return true;
  }
  return false;
}

/** Each of the other settings means TLS: without it, an API key would be sent in plain text. */
function usesTls({ TEMPORAL_TLS, ...others }: TemporalSecurity): boolean {
  return (
    TEMPORAL_TLS ??
    [
      others.TEMPORAL_TLS_SERVER_CA_CERT_PATH,
      others.TEMPORAL_TLS_CLIENT_CERT_PATH,
      others.TEMPORAL_TLS_SERVER_NAME,
      others.TEMPORAL_API_KEY,
    ].some((value) => value !== undefined)
  );
}

async function readTls(security: TemporalSecurity): Promise<TLSConfig> {
  const [ca, crt, key] = await Promise.all(
    [
      security.TEMPORAL_TLS_SERVER_CA_CERT_PATH,
      security.TEMPORAL_TLS_CLIENT_CERT_PATH,
      security.TEMPORAL_TLS_CLIENT_KEY_PATH,
    ].map((path) => (path === undefined ? undefined : readFile(path))),
  );
  try {
    createSecureContext({ ca, cert: crt, key });
  } catch (error) {
    throw new Error('the files of TEMPORAL_TLS_… are invalid or do not belong together', { cause: error });
  }
  if (crt) watchCertificate('temporal', crt);
  if (ca) watchAuthorities('temporal-ca', ca);
  return {
    ...(security.TEMPORAL_TLS_SERVER_NAME && { serverNameOverride: security.TEMPORAL_TLS_SERVER_NAME }),
    ...(ca && { serverRootCACertificate: ca }),
    ...(crt && key && { clientCertPair: { crt, key } }),
  };
}
