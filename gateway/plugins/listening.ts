import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { GatewayApp } from '../gateway-app.ts';

const SOCKETS = 16;
/** Only Linux balances the connections to a port over several sockets. */
const reusePort = process.platform === 'linux';

/**
 * How long an idle connection stays open. Longer than load balancers keep theirs, which Google Cloud's does for 600 s: a
 * request that it sends just as the connection closes gets 502.
 */
export const KEEP_ALIVE_MS = 620_000;

/**
 * The options of a gateway's `listen`. Connections wait in the kernel's backlog until a busy process accepts them; when
 * it is full, clients try again after 1, 3, 7 and 15 seconds. Node's default is 511.
 */
export const LISTEN_OPTIONS = { backlog: 4_096, reusePort };

/**
 * Makes a gateway listen with {@link LISTEN_OPTIONS}.
 * @throws EADDRINUSE even if it is another gateway that listens on the port, which would get a share of the connections.
 */
export async function listenAlone(
  app: GatewayApp,
  address: { readonly host: string; readonly port: number },
) {
  const probe = createServer().listen({ ...address });
  await once(probe, 'listening');
  await once(probe.close(), 'close');
  await app.listen({ ...LISTEN_OPTIONS, ...address });
}

/**
 * Opens more sockets on the port of a gateway that listens with {@link LISTEN_OPTIONS}. Node.js accepts one connection per
 * socket and turn of the event loop. When it is busy, turns are long, and new connections would wait for half a minute
 * while others are served.
 *
 * @returns the servers that have connections of the gateway: its own, and one per socket once it listens.
 */
export function acceptOnManySockets(app: GatewayApp): readonly Server[] {
  const servers: Server[] = [app.server];
  app.addHook('onListen', (done) => {
    const { address: host, port } = app.server.address() as AddressInfo;
    while (reusePort && servers.length < SOCKETS) {
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
        app.server.emit('connection', socket),
      );
      // The gateway may listen without sharing its port.
      server.on('error', () => undefined);
      servers.push(server.listen({ host, port, ...LISTEN_OPTIONS }));
    }
    done();
  });
  return servers;
}
