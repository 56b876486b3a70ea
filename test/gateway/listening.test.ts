import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createRouterTransport } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { startListener } from './listen.ts';

const CONNECTIONS = 320;

it.runIf(process.platform === 'linux')(
  'a busy gateway accepts several connections per turn of the event loop',
  async () => {
    const transport = createRouterTransport(() => undefined);
    const { app, port } = await startListener({ transport });
    let accepted = 0;
    app.server.on('connection', () => (accepted += 1));
    const sockets = Array.from({ length: CONNECTIONS }, () => connect(port, '127.0.0.1'));
    let turns = 0;
    for (; accepted < CONNECTIONS; turns += 1) await nextTurn();
    expect(turns).toBeLessThan(CONNECTIONS / 2);
    for (const socket of sockets) socket.destroy();
  },
);
