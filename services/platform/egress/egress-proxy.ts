import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { isIP, isIPv6, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { EgressError } from './egress-error.ts';

/** A forward proxy for all connections. Only its own address is exempt from the address policy. */
export interface EgressProxy {
  readonly url: URL;
  /** For an https proxy. */
  readonly secureContext: SecureContext;
}

/**
 * Opens a tunnel through the proxy to a checked address.
 * @returns the tunnel's socket, before any data was sent.
 * @throws EgressError PROXY when it cannot be reached or rejects the tunnel; the abort's error when the signal fires.
 */
export async function openTunnel(
  { url, secureContext }: EgressProxy,
  address: string,
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const request = (url.protocol === 'https:' ? https : http).request({
    method: 'CONNECT',
    host,
    port: url.port === '' ? undefined : Number(url.port),
    path: authority,
    headers: { host: authority, ...credentials(url) },
    secureContext,
    // Node would take the name from the header `host`, which names the endpoint. An address is no server name.
    servername: isIP(host) ? '' : host,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable it.
    rejectUnauthorized: true,
    agent: false,
    signal,
  } as https.RequestOptions);
  request.end();
  const [response, socket, head] = await connectResponse(request, signal);
  if (response.statusCode !== 200) {
    socket.destroy();
    throw new EgressError('PROXY', `the proxy answered ${response.statusCode}`);
  }
  if (head.length > 0) socket.unshift(head);
  return socket;
}

async function connectResponse(
  request: http.ClientRequest,
  signal: AbortSignal,
): Promise<[http.IncomingMessage, Socket, Buffer]> {
  request.on('error', () => {});
  // Every response to CONNECT arrives as 'connect', including errors.
  try {
    const [response, socket, head] = await once(request, 'connect', { signal });
    socket.on('error', () => {});
    return [response, socket, head];
  } catch (error) {
    request.destroy();
    throw signal.aborted ? error : new EgressError('PROXY', 'the proxy cannot be reached', { cause: error });
  }
}

function credentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
