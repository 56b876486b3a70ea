import { once } from 'node:events';
import {
  connect,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { CertificatePair } from '../../local/certificates.ts';

/** A gRPC server on loopback that speaks TLS, and passes on calls to one without TLS if it accepts their API key. */
export interface GrpcProxy extends AsyncDisposable {
  /** `host:port`. */
  readonly address: string;
  /** The keys that calls have shown. */
  readonly shown: ReadonlySet<string | undefined>;
  /** From now on calls with another key are UNAUTHENTICATED. */
  accept(...keys: string[]): void;
}

const UNAUTHENTICATED = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' };

/** @param upstream `host:port`. */
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
    if (accepted.includes(key ?? '')) forward(stream, headers);
    else stream.respond(UNAUTHENTICATED, { endStream: true });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
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
