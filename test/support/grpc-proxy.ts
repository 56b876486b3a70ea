import { once } from 'node:events';
import {
  connect,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { CertificatePair } from '../../local/certificates.ts';
import { portOf } from './port-of.ts';

/** A gRPC server on loopback that speaks TLS, and passes on calls to one without TLS if it accepts their API key. */
export interface GrpcProxy extends AsyncDisposable {
  /** `host:port`. */
  readonly address: string;
  /** The keys that calls have shown. */
  readonly shown: ReadonlySet<string | undefined>;
  /** From now on calls with another key are UNAUTHENTICATED. */
  accept(...keys: string[]): void;
}

const refusal = (code: number, message: string) => ({
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-status': `${code}`,
  'grpc-message': message,
});
const UNAUTHENTICATED = refusal(16, 'unknown key');
const PERMISSION_DENIED = refusal(7, 'Request unauthorized.');

/** What Temporal Cloud refuses to a worker's API key: all of the operator service, and changes of namespaces. */
const ADMINISTRATION = /^[/]temporal[.]api[.](operatorservice[.]|.*[/](Register|Update|Deprecate)Namespace$)/;

/**
 * Refuses to administrate namespaces, as Temporal Cloud does.
 * @param upstream `host:port`.
 */
export async function startGrpcProxy(upstream: string, certificate: CertificatePair): Promise<GrpcProxy> {
  const client = connect(`http://${upstream}`);
  client.on('error', () => {});
  const sessions = new Set<ServerHttp2Session>();
  const shown = new Set<string | undefined>();
  let accepted: readonly string[] = [];

  function forward(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const call = client.request({ ...headers, ':scheme': 'http' });
    let trailers: IncomingHttpHeaders = {};
    call.on('error', () => {});
    call.on('trailers', (received) => {
      trailers = received;
    });
    call.on('response', (received) => {
      if (stream.destroyed) return;
      stream.respond(received, { waitForTrailers: true });
      call.pipe(stream);
    });
    stream.on('error', () => {});
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.on('close', () => call.close());
    stream.pipe(call);
  }

  const server = createSecureServer({ cert: certificate.certificatePem, key: certificate.privateKeyPem });
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {}).once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    const key = headers.authorization?.replace('Bearer ', '');
    shown.add(key);
    if (!accepted.includes(key ?? '')) stream.respond(UNAUTHENTICATED, { endStream: true });
    else if (ADMINISTRATION.test(headers[':path']!)) stream.respond(PERMISSION_DENIED, { endStream: true });
    else forward(stream, headers);
  });
  server.listen(0, '127.0.0.1');
  return {
    address: `localhost:${await portOf(server)}`,
    shown,
    accept: (...keys) => {
      accepted = keys;
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
