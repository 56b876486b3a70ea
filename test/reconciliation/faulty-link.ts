import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { portOf } from '../support/port-of.ts';
import type { NetworkFault } from './fault-schedule.ts';

/** A TCP proxy on loopback between two parts of the system, whose network can be made to fail. */
export interface FaultyLink extends AsyncDisposable {
  readonly port: number;
  /**
   * drop: nothing arrives, in either direction. lose answers: requests arrive, responses do not. delay: each chunk
   * waits. reset: connections are reset, including new ones. half-close: existing connections look closed by the
   * server, which does not know. Connections that have lost data are cut when the fault ends, as TCP would do.
   * @returns a function that ends the fault.
   */
  begin(fault: NetworkFault): () => void;
  /** Connects new connections to another port on loopback, as a name that leads to another address. */
  leadTo(upstreamPort: number): void;
}

interface Connection {
  readonly client: Socket;
  readonly server: Socket;
  damaged: boolean;
}

const DELAY_MS = 150;

/** @param upstreamPort of a server on loopback, which need not be there yet. */
export async function openLink(upstreamPort: number): Promise<FaultyLink> {
  const connections = new Set<Connection>();
  let fault: NetworkFault | undefined;
  let leadsTo = upstreamPort;

  /** Whether a chunk is lost, which breaks its connection permanently. */
  function isLost(connection: Connection, isAnswer: boolean): boolean {
    if (fault === 'drop' || (fault === 'lose answers' && isAnswer)) connection.damaged = true;
    return connection.damaged && (fault === 'drop' || isAnswer);
  }
  async function forward(connection: Connection, from: Socket, to: Socket): Promise<void> {
    const isAnswer = from === connection.server;
    await pipeline(
      from,
      async function* (source: AsyncIterable<Buffer>) {
        for await (const piece of source) {
          if (fault === 'delay') await delay(DELAY_MS);
          if (!isLost(connection, isAnswer)) yield piece;
        }
      },
      to,
    );
  }
  const cut = ({ client, server }: Connection) => {
    client.resetAndDestroy();
    server.resetAndDestroy();
  };
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    client.on('error', () => undefined);
    if (fault === 'reset') return void client.resetAndDestroy();
    const server = connect({ port: leadsTo, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    server.on('error', () => undefined);
    const connection = { client, server, damaged: false };
    connections.add(connection);
    Promise.all([forward(connection, client, server), forward(connection, server, client)])
      .catch(() => cut(connection))
      .finally(() => connections.delete(connection));
  });
  listener.listen(0, '127.0.0.1');
  return {
    port: await portOf(listener),
    begin(begun) {
      fault = begun;
      if (begun === 'reset') for (const connection of connections) cut(connection);
      if (begun === 'half-close') {
        for (const connection of connections) {
          connection.damaged = true;
          connection.client.end();
        }
      }
      return () => {
        fault = undefined;
        for (const connection of connections) if (connection.damaged) cut(connection);
      };
    },
    leadTo(port) {
      leadsTo = port;
    },
    async [Symbol.asyncDispose]() {
      for (const connection of connections) cut(connection);
      listener.close();
      await once(listener, 'close');
    },
  };
}
