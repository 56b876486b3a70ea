import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { ConnectionTrace } from './connection-trace.ts';
import type { GuardedConnector } from './guarded-connector.ts';

export interface GuardedPoolsOptions {
  readonly connector: GuardedConnector;
  readonly connectionsPerPool: number;
  /** Pools that have neither a connection nor a request are removed this often. */
  readonly sweepMs: number;
}

export interface GuardedPools {
  /** The pool of a key and origin, created on demand. Call this for every request. */
  take(poolKey: string, origin: string): Dispatcher;
  readonly size: number;
  close(): Promise<void>;
}

/** Keep-alive time of idle connections, capped even if the receiver offers more. */
const KEEP_ALIVE_MS = 4000;
const KEEP_ALIVE_MAX_MS = 30_000;

/** Creates one pool per key, so that endpoints on the same host neither wait for each other nor share connections. */
export function createGuardedPools(options: GuardedPoolsOptions): GuardedPools {
  const pools = new Map<string, Pool>();
  const sweep = setInterval(() => removeIdle(pools), options.sweepMs).unref();

  return {
    take(poolKey, origin) {
      const key = `${poolKey} ${origin}`;
      const pool = pools.get(key) ?? createPool(origin, options);
      pools.set(key, pool);
      return pool;
    },
    get size() {
      return pools.size;
    },
    async close() {
      clearInterval(sweep);
      const open = [...pools.values()];
      pools.clear();
      await Promise.all(open.map((pool) => pool.destroy()));
    },
  };
}

/** A handler that also learns which connection its request uses. */
export interface TracedHandler extends Dispatcher.DispatchHandler {
  /** Called once the request has been assigned a connection, open or not. */
  onConnection?(connection: TracedConnection): void;
}

export interface TracedConnection {
  /** The steps of the current connection; a later request may open it again. */
  trace: ConnectionTrace | undefined;
  /** Undefined until the first connection is open. */
  socket: Socket | undefined;
}

/** One connection of a pool, which passes itself to the handlers of its requests. */
class TracedClient extends Client {
  readonly #connection: TracedConnection;

  constructor(origin: URL, options: Client.Options, connection: TracedConnection) {
    super(origin, options);
    this.#connection = connection;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: TracedHandler): boolean {
    handler.onConnection?.(this.#connection);
    return super.dispatch(options, handler);
  }
}

function createPool(origin: string, options: GuardedPoolsOptions): Pool {
  const connectorOf =
    (connection: TracedConnection): buildConnector.connector =>
    (target, callback) => {
      connection.trace = new ConnectionTrace();
      const onConnected: buildConnector.Callback = (...result) => {
        connection.socket = result[1] ?? undefined;
        callback(...result);
      };
      options.connector(target, onConnected, connection.trace);
    };
  return new Pool(origin, {
    connect: connectorOf({ trace: undefined, socket: undefined }),
    factory(url, clientOptions) {
      const connection: TracedConnection = { trace: undefined, socket: undefined };
      return new TracedClient(url, { ...clientOptions, connect: connectorOf(connection) }, connection);
    },
    connections: options.connectionsPerPool,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    // The attempt has its own deadline; these timers would only restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function removeIdle(pools: Map<string, Pool>): void {
  for (const [key, pool] of pools) {
    if (pool.stats.connected > 0 || pool.stats.size > 0) continue;
    pools.delete(key);
    pool.close().catch(() => {});
  }
}
