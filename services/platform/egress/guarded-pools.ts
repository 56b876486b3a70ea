import { type buildConnector, type Dispatcher, Pool } from 'undici';

export interface GuardedPoolsOptions {
  createConnector(): buildConnector.connector;
  readonly connectionsPerPool: number;
  /** Pools that were not used for this long and have no pending request are closed. */
  readonly idleMs: number;
}

export interface GuardedPools {
  /** The pool of a key and origin, created on demand. Call this for every request. */
  take(poolKey: string, origin: string): Dispatcher;
  readonly size: number;
  close(): Promise<void>;
}

interface Entry {
  readonly pool: Pool;
  takenAtMs: number;
}

/** Keep-alive time of idle connections, capped even if the receiver offers more. */
const KEEP_ALIVE_MS = 4000;
const KEEP_ALIVE_MAX_MS = 30_000;

/** Creates one pool per key, so that endpoints on the same host neither wait for each other nor share connections. */
export function createGuardedPools(options: GuardedPoolsOptions): GuardedPools {
  const entries = new Map<string, Entry>();
  const sweep = setInterval(() => closeIdle(entries, options.idleMs), options.idleMs / 2).unref();

  return {
    take(poolKey, origin) {
      const key = `${poolKey} ${origin}`;
      const entry = entries.get(key) ?? { pool: createPool(origin, options), takenAtMs: 0 };
      entry.takenAtMs = performance.now();
      entries.set(key, entry);
      return entry.pool;
    },
    get size() {
      return entries.size;
    },
    async close() {
      clearInterval(sweep);
      const pools = [...entries.values()];
      entries.clear();
      await Promise.all(pools.map(({ pool }) => pool.destroy()));
    },
  };
}

function createPool(origin: string, options: GuardedPoolsOptions): Pool {
  return new Pool(origin, {
    connect: options.createConnector(),
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

function closeIdle(entries: Map<string, Entry>, idleMs: number): void {
  for (const [key, { pool, takenAtMs }] of entries) {
    if (performance.now() - takenAtMs < idleMs || pool.stats.size > 0) continue;
    entries.delete(key);
    pool.close().catch(() => {});
  }
}
