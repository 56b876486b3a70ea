import { constants } from 'node:crypto';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import { metrics } from '../process/telemetry.ts';
import type { TlsFiles } from '../process/tls-files.ts';

/** The options of a port with mutual TLS. */
export interface PortTls {
  readonly files: TlsFiles;
  readonly logger: Logger;
}

/** Shorter than a closing server waits for calls in progress. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Limits log lines, because refused clients keep retrying. */
const LOG_INTERVAL_MS = 60_000;

const refusals = new Counter({
  name: 'payments_rpc_tls_refusals_total',
  help: 'Connections to the internal port that were refused during the TLS handshake, by cause.',
  labelNames: ['cause'],
  registers: [metrics],
});

/**
 * A TLS server that requires a client certificate issued by the authorities in the files, and offers HTTP/2 and
 * HTTP/1.1. Replaced files apply to new connections.
 */
export function createSecureServer(
  { files, logger }: PortTls,
  onConnection: (socket: TLSSocket) => void,
): Server {
  // Verifies each connection itself: a resumed session would have the certificate of an earlier one.
  const context = () => ({ ...files.current, secureOptions: constants.SSL_OP_NO_TICKET });
  const server = createServer(
    {
      ...context(),
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    },
    onConnection,
  );
  const report = refusalReport(logger);
  server.on('tlsClientError', report);
  const forget = files.onReplaced(() => server.setSecureContext(context()));
  server.once('close', forget);
  return server;
}

/** Counts refused clients, and logs each cause once a minute. */
function refusalReport(logger: Logger) {
  const loggedAt = new Map<string, number>();
  return (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    const cause = causeOf(error, socket);
    if (cause === undefined) return;
    refusals.inc({ cause });
    const now = performance.now();
    if (now - (loggedAt.get(cause) ?? Number.NEGATIVE_INFINITY) < LOG_INTERVAL_MS) return;
    loggedAt.set(cause, now);
    logger.warn(
      { cause, address: socket.remoteAddress },
      'a client of the internal port was refused; the same cause is logged once a minute',
    );
  };
}

/** Undefined for clients that disconnected, such as probes of load balancers. */
function causeOf(error: NodeJS.ErrnoException, socket: TLSSocket): string | undefined {
  // Node closes the connection of a client whose certificate it rejects, and reports that as a reset.
  const { authorizationError } = socket as { authorizationError?: unknown };
  if (authorizationError) return String(authorizationError);
  return error.code === 'ECONNRESET' ? undefined : error.code;
}
