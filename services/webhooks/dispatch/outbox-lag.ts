import { Gauge } from 'prom-client';
import { metrics } from '../../platform/telemetry.ts';
import type { DispatchDatabase, Statement } from './dispatch-database.ts';

const NAME = 'payments_webhook_lag_seconds';

const OLDEST: Statement = {
  name: 'oldest_event',
  text: `
select extract(epoch from now() - uuid_extract_timestamp(id))::float8 as seconds
  from platform.outbox_event order by id limit 1`,
};

/** How long the oldest event that no dispatcher has taken waits; measured when /metrics is read. */
export function registerOutboxLag(db: DispatchDatabase): void {
  metrics.removeSingleMetric(NAME);
  new Gauge({
    name: NAME,
    help: 'Age of the oldest event that waits for the dispatcher.',
    registers: [metrics],
    async collect() {
      const rows = await db.run<{ seconds: number }>(OLDEST, []).catch(() => undefined);
      // Without a database it is not known, which must not keep the other metrics back.
      this.set(rows ? Math.max(rows[0]?.seconds ?? 0, 0) : Number.NaN);
    },
  });
}
