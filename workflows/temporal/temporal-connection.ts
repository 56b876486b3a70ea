import { readFileSync } from 'node:fs';
import type { TLSConfig } from '@temporalio/client';
import type { Logger } from 'pino';
import { watchAuthorities, watchCertificate } from '../../services/platform/process/certificate-expiry.ts';
import type { Config, TEMPORAL_SECURITY } from '../../services/platform/process/config.ts';
import { CredentialFiles } from '../../services/platform/process/credential-files.ts';
import { readTls } from '../../services/platform/process/tls-files.ts';

/** The settings that secure a connection to Temporal. */
export type TemporalSecurity = Partial<Pick<Config, (typeof TEMPORAL_SECURITY)[number]>>;

/** The options common to connections of clients and workers. */
export interface TemporalConnectionOptions {
  /** `host:port`. */
  readonly address: string;
  readonly tls: TLSConfig | false;
  readonly apiKey?: string;
}

/** The options with the current certificates and keys of their files. */
export type TemporalCredentials = CredentialFiles<TemporalConnectionOptions>;

/** Throws when a file cannot be read or used. */
export function openTemporalCredentials(
  address: string,
  security: TemporalSecurity,
  logger: Logger,
): TemporalCredentials {
  const read = () => readTemporalConnection(address, security);
  const onUse = ({ tls }: TemporalConnectionOptions) => {
    const { clientCertPair, serverRootCACertificate } = tls || {};
    if (clientCertPair) watchCertificate('temporal', Buffer.from(clientCertPair.crt));
    if (serverRootCACertificate) watchAuthorities('temporal-ca', Buffer.from(serverRootCACertificate));
  };
  return new CredentialFiles({ name: 'temporal', read, onUse, logger });
}

/** Reads certificates and keys from their files. Throws when one cannot be read or they do not match. */
export function readTemporalConnection(
  address: string,
  security: TemporalSecurity = {},
): TemporalConnectionOptions {
  return { address, tls: usesTls(security) && tlsOf(security), apiKey: readApiKey(security) };
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
      others.TEMPORAL_API_KEY_PATH,
    ].some((value) => value !== undefined)
  );
}

function readApiKey({ TEMPORAL_API_KEY, TEMPORAL_API_KEY_PATH: path }: TemporalSecurity): string | undefined {
  if (path === undefined) return TEMPORAL_API_KEY;
  const key = readFileSync(path, 'utf8').trim();
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error(`${path}: must contain one API key`);
  return key;
}

function tlsOf(security: TemporalSecurity): TLSConfig {
  const { ca, cert, key } = readTls({
    caCertPath: security.TEMPORAL_TLS_SERVER_CA_CERT_PATH,
    certPath: security.TEMPORAL_TLS_CLIENT_CERT_PATH,
    keyPath: security.TEMPORAL_TLS_CLIENT_KEY_PATH,
  });
  return {
    serverNameOverride: security.TEMPORAL_TLS_SERVER_NAME,
    serverRootCACertificate: ca,
    clientCertPair: cert && key && { crt: cert, key },
  };
}
