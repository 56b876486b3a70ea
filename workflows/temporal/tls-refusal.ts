import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect, getCACertificates } from 'node:tls';
import type { TemporalConnectionOptions } from './temporal-connection.ts';

const ALERT_TIMEOUT_MS = 2_000;
const DEFAULT_PORT = 7233;

/**
 * The error of a failed connection, replaced by the TLS error if there is one. With TLS 1.3 a server refuses a client
 * after the handshake, when the SDK has already sent a call, so the SDK may report the lost call instead of the
 * refusal.
 */
export async function explainRefusal(error: unknown, options: TemporalConnectionOptions): Promise<unknown> {
  const refusal = await findRefusal(options);
  if (!refusal) return error;
  return new Error(`no TLS connection to Temporal: ${refusal.message}`, { cause: error });
}

/** Makes a separate handshake, and sends nothing. */
async function findRefusal({ address, tls }: TemporalConnectionOptions): Promise<Error | undefined> {
  if (!tls) return undefined;
  const { hostname, port } = new URL(`tcp://${address}`);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({
    host,
    port: Number(port || DEFAULT_PORT),
    // An IP address is not a valid server name.
    servername: tls.serverNameOverride ?? (isIP(host) ? '' : host),
    // Without a CA of its own, the SDK trusts those of the system, and Node by default others.
    ca: tls.serverRootCACertificate ? Buffer.from(tls.serverRootCACertificate) : getCACertificates('system'),
    cert: tls.clientCertPair && Buffer.from(tls.clientCertPair.crt),
    key: tls.clientCertPair && Buffer.from(tls.clientCertPair.key),
    ALPNProtocols: ['h2'],
  });
  try {
    await once(socket.resume(), 'close', { signal: AbortSignal.timeout(ALERT_TIMEOUT_MS) });
    return undefined;
  } catch (error) {
    return (error as Error).name === 'AbortError' ? undefined : (error as Error);
  } finally {
    socket.on('error', () => {}).destroy();
  }
}
