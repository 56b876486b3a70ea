import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import { createServer as createTlsServer, type SecureVersion, type TLSSocket } from 'node:tls';
import { type CertificatePair, createAuthority, issueCertificate } from '../../local/certificates.ts';
import { portOf } from './port-of.ts';

/** One authority per test file: pass its `certificatePem` as the extra CA. */
export const testAuthority: CertificatePair = await createAuthority();

export const TEST_NAMES = ['hooks.example.com', 'localhost', '127.0.0.1', '::1'];

const testLeaf = await issueCertificate(testAuthority, { names: TEST_NAMES });

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Listening {
  readonly port: number;
  /** TCP connections seen so far. */
  readonly connections: Socket[];
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Receiver extends Listening {
  readonly requests: ReceivedRequest[];
}

export interface ReceiverOptions {
  readonly certificate?: CertificatePair;
  readonly listenOn?: string;
  readonly maxVersion?: SecureVersion;
}

type Responder = (request: IncomingMessage, response: ServerResponse) => void;

const NO_CONTENT: Responder = (_request, response) => {
  response.writeHead(204).end();
};

/** An HTTPS endpoint on loopback that records requests and then answers. */
export async function startReceiver(
  respond: Responder = NO_CONTENT,
  { certificate = testLeaf, listenOn = '127.0.0.1', maxVersion }: ReceiverOptions = {},
): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const server = createHttpsServer(
    { cert: certificate.certificatePem, key: certificate.privateKeyPem, ...(maxVersion && { maxVersion }) },
    async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      const { method = '', url: path = '', headers } = request;
      requests.push({ method, path, headers, body });
      respond(request, response);
    },
  );
  const listening = await listen(server, listenOn);
  return Object.assign(listening, { requests });
}

/** A TLS endpoint that sends raw bytes, for responses that no HTTP server would give. */
export async function startRawReceiver(serve: (socket: TLSSocket) => void): Promise<Listening> {
  const server = createTlsServer({ cert: testLeaf.certificatePem, key: testLeaf.privateKeyPem }, (socket) => {
    socket.on('error', () => {});
    serve(socket);
  });
  return listen(server, '127.0.0.1');
}

/** Listens on a free port and ends every connection when disposed. */
export async function listen(server: Server, host: string): Promise<Listening> {
  const connections: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    connections.push(socket);
    socket.on('error', () => {});
  });
  server.on('tlsClientError', () => {});
  server.listen(0, host);
  return {
    port: await portOf(server),
    connections,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of connections) socket.destroy();
    },
  };
}
