import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { portOf } from './port-of.ts';

/** A TCP proxy on loopback that can lose responses: the request arrives, the response never does. */
export interface LossyProxy extends AsyncDisposable {
  readonly port: number;
  /** The number of connections that have lost data. */
  readonly losses: number;
  /** Makes connections lose all responses once something that matches was sent over them. */
  loseAnswersTo(sent: RegExp): void;
  /** Makes new connections work again. */
  heal(): void;
}

export async function startLossyProxy(upstreamPort: number): Promise<LossyProxy> {
  const sockets = new Set<Socket>();
  const losing = new Set<Socket>();
  let pattern: RegExp | undefined;
  let sentSince = new Map<Socket, string>();
  let losses = 0;
  const server = createServer((socket) => {
    const upstream = connect(upstreamPort, '127.0.0.1');
    for (const [end, otherEnd] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(end);
      end
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(end);
          otherEnd.destroy();
        });
    }
    socket.on('data', (chunk) => {
      if (pattern && !losing.has(socket)) {
        const sent = (sentSince.get(socket) ?? '') + chunk.toString('latin1');
        sentSince.set(socket, sent);
        if (pattern.test(sent)) losing.add(socket);
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!losing.has(socket)) return void socket.write(chunk);
      if (sentSince.delete(socket)) losses += 1;
    });
  });
  server.listen(0, '127.0.0.1');
  return {
    port: await portOf(server),
    get losses() {
      return losses;
    },
    loseAnswersTo(sent) {
      pattern = sent;
      sentSince = new Map();
    },
    heal() {
      pattern = undefined;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
