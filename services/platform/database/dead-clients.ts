import type { Pool, PoolClient } from 'pg';

/** By then whoever holds a connection that died has seen its statement fail, and given the connection back. */
const PATIENCE_MS = 1_000;

/**
 * Gives back to the pool what nobody else does: a connection that died inside a transaction. Kysely's controlled
 * transactions release their connection only when COMMIT or ROLLBACK succeeds, so without this every death of the
 * database would take the connections in use out of the pool for good.
 */
export function reclaimDeadClients(pool: Pool): void {
  const inUse = new Set<PoolClient>();
  pool.on('acquire', (client) => inUse.add(client));
  pool.on('release', (_error, client) => inUse.delete(client as PoolClient));
  pool.on('connect', (client) => {
    client.once('end', () => {
      setTimeout(() => {
        if (inUse.has(client)) client.release(true);
      }, PATIENCE_MS);
    });
  });
}
