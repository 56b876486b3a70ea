import { isIPv6 } from 'node:net';

/** The URL of a port on HOST, or of the host alone. An IPv6 address is in brackets. */
export function listeningUrl(host: string, port?: number): string {
  const name = isIPv6(host) ? `[${host}]` : host;
  return port === undefined ? `http://${name}` : `http://${name}:${port}`;
}
