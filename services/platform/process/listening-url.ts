/** The URL of a port on HOST, or of the host alone. An IPv6 address is in brackets. */
export function listeningUrl(host: string, port?: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === undefined ? `http://${name}` : `http://${name}:${port}`;
}
