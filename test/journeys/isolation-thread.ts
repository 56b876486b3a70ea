// Run as a thread, so that the work of these endpoints does not disturb the measuring one.
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { CertificatePair } from '../../local/certificates.ts';
import { listen } from '../support/tls-receiver.ts';

/** The ports of what listens; sent once. */
export interface HostilePorts {
  /** Answers 200 with 64 MB. */
  readonly large: number;
  /** Refuses every TLS handshake. */
  readonly refusesTls: number;
  /** Accepts connections and sends nothing, not even TLS. */
  readonly mute: number;
}

const { certificatePem: cert, privateKeyPem: key }: CertificatePair = workerData;
const CHUNK = Buffer.alloc(64 * 1024, 'a');
const CHUNKS = 1024;
/** A fatal alert, handshake_failure. */
const HANDSHAKE_FAILURE = Buffer.from([21, 3, 3, 0, 2, 2, 40]);

function* sixtyFourMb() {
  for (let count = 0; count < CHUNKS; count += 1) yield CHUNK;
}

const large = await listen(
  createHttpsServer({ cert, key }, (request, response) => {
    request.resume();
    // Written as fast as it is read; otherwise all of it would be encrypted first.
    pipeline(Readable.from(sixtyFourMb()), response.writeHead(200)).catch(() => undefined);
  }),
  '127.0.0.1',
);
const refusesTls = await listen(
  createTcpServer((socket) => socket.once('data', () => socket.end(HANDSHAKE_FAILURE))),
  '127.0.0.1',
);
const mute = await listen(createTcpServer(), '127.0.0.1');
const all = [large, refusesTls, mute];

/** Any message ends all connections. */
parentPort!.on('message', () => {
  for (const { connections } of all) for (const socket of connections.splice(0)) socket.destroy();
});
parentPort!.postMessage({
  large: large.port,
  refusesTls: refusesTls.port,
  mute: mute.port,
} satisfies HostilePorts);
