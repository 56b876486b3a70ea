import type { Pool, PoolClient } from 'pg';

/** By then the holder of a dead connection has seen its statement fail and released the connection. */
const GRACE_MS = 1_000;

/**
 * Releases connections that died inside a transaction. Kysely's controlled transactions release their connection only when
 * COMMIT or ROLLBACK succeeds, so without this every database outage would leak the connections in use.
 */
export function reclaimDeadClients(pool: Pool): void {
  const inUse = new Set<PoolClient>();
  pool.on('acquire', (client) => inUse.add(client));
  pool.on('release', (_error, client) => inUse.delete(client as PoolClient));
  pool.on('connect', (client) => {
    client.once('end', () => {
      setTimeout(() => {
        if (inUse.has(client)) client.release(true);
      }, GRACE_MS).unref();
    });
  });
}
