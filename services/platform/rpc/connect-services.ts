import type { Transport } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Config, RPC_TLS } from '../process/config.ts';
import { openTlsFiles, type TlsFiles } from '../process/tls-files.ts';
import { remoteTransport } from './remote-transport.ts';

/** The settings of mutual TLS between processes. */
export type RpcTlsConfig = Pick<Config, Exclude<(typeof RPC_TLS)[number], 'RPC_TLS_CALLERS'>>;

type ClientConfig = RpcTlsConfig & { readonly SERVICES_URL: string };

/** Opens the files of RPC_TLS_…; undefined if they are not set. Throws when they cannot be used. */
export function openRpcTls(config: RpcTlsConfig, logger: Logger): TlsFiles | undefined {
  const { RPC_TLS_CA_CERT_PATH, RPC_TLS_CERT_PATH, RPC_TLS_KEY_PATH } = config;
  return openFiles('rpc', [RPC_TLS_CA_CERT_PATH, RPC_TLS_CERT_PATH, RPC_TLS_KEY_PATH], logger);
}

/**
 * A transport to services in other processes, with the process's token, certificate or both.
 * @param files the process's own, opened with `openRpcTls`.
 */
export function connectServices(
  {
    SERVICES_URL,
    RPC_TLS_SERVER_NAME: serverName,
    SERVICE_TOKEN,
  }: ClientConfig & Pick<Config, 'SERVICE_TOKEN'>,
  files: TlsFiles | undefined,
): Transport {
  return remoteTransport(SERVICES_URL, SERVICE_TOKEN, files && { files, serverName });
}

/**
 * The same for the dashboard; undefined if it has neither a token nor a certificate of its own.
 * @param files the process's own, used together with a token if the dashboard has no certificate.
 */
export function connectDashboardServices(
  config: ClientConfig & Pick<Config, 'DASHBOARD_SERVICE_TOKEN'>,
  files: TlsFiles | undefined,
  logger: Logger,
): Transport | undefined {
  const { DASHBOARD_SERVICE_TOKEN: token, RPC_TLS_CA_CERT_PATH } = config;
  const { DASHBOARD_RPC_TLS_CERT_PATH, DASHBOARD_RPC_TLS_KEY_PATH } = config;
  const paths = [RPC_TLS_CA_CERT_PATH, DASHBOARD_RPC_TLS_CERT_PATH, DASHBOARD_RPC_TLS_KEY_PATH];
  const own = openFiles('dashboard-rpc', paths, logger);
  if (own === undefined && token === undefined) return undefined;
  return connectServices({ ...config, SERVICE_TOKEN: token }, own ?? files);
}

function openFiles(
  name: string,
  [caCertPath, certPath, keyPath]: readonly (string | undefined)[],
  logger: Logger,
): TlsFiles | undefined {
  if (!caCertPath || !certPath || !keyPath) return undefined;
  return openTlsFiles(name, { caCertPath, certPath, keyPath }, logger);
}
