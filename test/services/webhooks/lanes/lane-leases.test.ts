import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  CrossTenantDatabase,
  type Run,
} from '../../../../services/platform/database/cross-tenant-database.ts';
import type { Database } from '../../../../services/platform/database/database.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { LaneLeases } from '../../../../services/webhooks/lanes/lane-leases.ts';
import { createTestDatabase } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';

const SOON = { timeout: 20_000 };
const ignore = () => undefined;

let database: Database;
let db: CrossTenantDatabase;
const processes: LaneLeases[] = [];

beforeEach(async () => {
  const url = await createTestDatabase();
  database = await openDatabase(url, { poolSize: 4 });
  db = new CrossTenantDatabase(database);
});
afterEach(async () => {
  for (const leases of processes.splice(0)) await leases.stop();
  await database.close();
});

/** The leases of a process. */
function start(run: Run = db.run): LaneLeases {
  const leases = new LaneLeases({
    db: { run },
    logger: createLogger('fatal'),
    onTaken: ignore,
    onLost: ignore,
    beforeRelease: async () => undefined,
    onReleased: ignore,
  });
  processes.push(leases);
  leases.start();
  return leases;
}

/** The connection is lost at a statement of this name, once: before or after the database has executed it. */
function disconnectedOnce(name: string, when: 'before' | 'after'): Run {
  let isConnected = true;
  return async (statement, parameters) => {
    if (statement.name !== name || !isConnected) return db.run(statement, parameters);
    isConnected = false;
    if (when === 'after') await db.run(statement, parameters);
    throw new Error('Connection terminated unexpectedly');
  };
}

it('takes no lane of a process that wakes up and renews its lease just before', async () => {
  const paused = randomUUID();
  const renew = (lease: string) => ({
    name: `renew ${lease}`,
    text: `insert into webhooks.lane_owner (id, leased_until) values (:paused, now() + interval '${lease}')
           on conflict (id) do update set leased_until = excluded.leased_until`,
  });
  await db.run(renew('-1 s'), { paused });
  await db.run({ name: 'own', text: 'update webhooks.lane set owner_id = :paused' }, { paused });
  const tries: unknown[][] = [];
  const leases = start(async (statement, parameters) => {
    if (statement.name !== 'take_lanes') return db.run(statement, parameters);
    await db.run(renew('1 minute'), { paused });
    const taken = await db.run<never>(statement, parameters);
    tries.push(taken);
    return taken;
  });
  await vi.waitFor(() => expect(tries).toEqual([[]]));
  expect(leases.lanes).toEqual([]);
});

it('takes the other lanes, and renews its lease, while a paused process still has a lane locked', async () => {
  const paused = await database.connect();
  await paused.query('begin; select from webhooks.lane where id = 0 for share');
  const leases = start();
  // PostgreSQL ends the transaction of the paused process after ten seconds.
  await vi.waitFor(() => expect(leases.lanes).toHaveLength(63), { timeout: 5_000 });
  expect(leases.isConfirmed).toBe(true);
  await paused.query('rollback');
  paused.release();
  await vi.waitFor(() => expect(leases.lanes).toHaveLength(64), SOON);
});

it('owns the lanes that it took although the connection was lost before it knew', async () => {
  const leases = start(disconnectedOnce('take_lanes', 'after'));
  await vi.waitFor(() => expect(leases.lanes).toHaveLength(64), SOON);
});

it('hands its lanes over at once when it stops while it renews its lease', async () => {
  const renewing = Promise.withResolvers<void>();
  const leases = start(async (statement, parameters) => {
    const rows = await db.run<never>(statement, parameters);
    if (statement.name === 'renew_lanes') {
      renewing.resolve();
      await delay(100);
    }
    return rows;
  });
  await renewing.promise;
  const stoppedAt = performance.now();
  await leases.stop();
  expect(performance.now() - stoppedAt).toBeLessThan(900);
});

it('hands over the lanes that it gave up although the connection was lost meanwhile', async () => {
  const first = start(disconnectedOnce('release_lanes', 'before'));
  await vi.waitFor(() => expect(first.lanes).toHaveLength(64), SOON);
  const second = start();
  await vi.waitFor(() => expect([first.lanes.length, second.lanes.length]).toEqual([32, 32]), SOON);
});

it('looks more often than its lease needs for lanes that become free, while another process owns lanes', async () => {
  await db.run({ name: 'own', text: 'update webhooks.lane set owner_id = :other' }, { other: randomUUID() });
  const lease = `insert into webhooks.lane_owner (id, leased_until)
                 select owner_id, now() + interval '1 minute' from webhooks.lane limit 1`;
  await db.run({ name: 'lease', text: lease });
  const renewedAt: number[] = [];
  start((statement, parameters) => {
    if (statement.name === 'renew_lanes') renewedAt.push(performance.now());
    return db.run(statement, parameters);
  });
  await vi.waitFor(() => expect(renewedAt.length).toBeGreaterThan(2), SOON);
  // At the interval of a process that owns all lanes it would be two seconds.
  expect(renewedAt[2]! - renewedAt[0]!).toBeLessThan(1_900);
});
