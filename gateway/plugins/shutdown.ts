import type { Socket } from 'node:net';
import type { GatewayApp } from '../gateway-app.ts';

/** Longer than any request that has arrived takes to be answered. */
const LAST_ANSWERS_MS = 12_000;
const LOOK_MS = 50;

/**
 * Lets the listener close in time. Node.js closes only what is between two requests at that moment: here connections
 * that have never sent a byte end at once, those with a request when it has been answered, and the rest after a while.
 */
export function closeInTime(app: GatewayApp): void {
  const connections = new Set<Socket>();
  app.server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  app.addHook('preClose', (done) => {
    if (!app.server.listening) return done();
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    const answered = setInterval(() => app.server.closeIdleConnections(), LOOK_MS);
    const late = setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_MS);
    app.server.once('close', () => {
      clearInterval(answered);
      clearTimeout(late);
    });
    done();
  });
}
