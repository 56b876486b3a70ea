import type { Pool } from 'pg';
import { Gauge } from 'prom-client';
import { metrics } from '../process/telemetry.ts';

type PoolName = 'reads' | 'writes' | 'replica';

const watched = new Map<Pool, PoolName>();

new Gauge({
  name: 'payments_database_connections',
  help: 'Connections of this process by pool: in use, idle, and how many callers wait for one.',
  labelNames: ['pool', 'state'],
  registers: [metrics],
  collect() {
    this.reset();
    for (const [pool, name] of watched) {
      if (pool.ending) {
        watched.delete(pool);
        continue;
      }
      const { totalCount, idleCount, waitingCount } = pool;
      this.inc({ pool: name, state: 'busy' }, totalCount - idleCount);
      this.inc({ pool: name, state: 'idle' }, idleCount);
      this.inc({ pool: name, state: 'waiting' }, waitingCount);
    }
  },
});

/** Shows the connections of a pool in the metrics until the pool ends. */
export function watchPool(pool: Pool, name: PoolName): void {
  watched.set(pool, name);
}
