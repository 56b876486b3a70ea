import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import type { GatewayApp } from '../gateway-app.ts';

/** Process managers kill after ten seconds, which is also the longest that a request takes. */
const DRAIN_TIMEOUT_MS = 8_000;
const POLL_MS = 50;

/**
 * Closes a server gracefully and in bounded time. Node.js closes only connections that are idle at that moment. This
 * also closes connections that never sent a byte, busy ones when their response is complete, and all after a timeout.
 *
 * @param servers those that have connections of the gateway: its own, which Fastify closes, and others.
 */
export function closeGracefully(app: GatewayApp, servers: readonly Server[] = [app.server]): void {
  let closed: Promise<unknown> | undefined;
  const connections = new Set<Socket>();
  app.server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  app.addHook('preClose', (done) => {
    if (!app.server.listening) return done();
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    const poll = setInterval(() => app.server.closeIdleConnections(), POLL_MS);
    const timeout = setTimeout(() => app.server.closeAllConnections(), DRAIN_TIMEOUT_MS);
    closed = Promise.all(servers.map((server) => once(server, 'close'))).finally(() => {
      clearInterval(poll);
      clearTimeout(timeout);
    });
    for (const server of servers) if (server !== app.server) server.close();
    done();
  });
  app.addHook('onClose', () => closed);
}
