import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import {
  CrossTenantDatabase,
  type Run,
} from '../../../../services/platform/database/cross-tenant-database.ts';
import { Database } from '../../../../services/platform/database/database.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { LaneLeases } from '../../../../services/webhooks/lanes/lane-leases.ts';
import { createTestDatabase } from '../../../support/harness.ts';

it('takes no lane of a process that wakes up and renews its lease just before', async () => {
  const url = await createTestDatabase();
  const database = await Database.open({ url, poolSize: 2, preparedStatements: true, entities: [] });
  const db = new CrossTenantDatabase(database);
  const paused = randomUUID();
  const renew = (lease: string) => ({
    name: `renew ${lease}`,
    text: `insert into webhooks.lane_owner (id, leased_until) values (:paused, now() + interval '${lease}')
           on conflict (id) do update set leased_until = excluded.leased_until`,
  });
  await db.run(renew('-1 s'), { paused });
  await db.run({ name: 'own', text: 'update webhooks.lane set owner_id = :paused' }, { paused });
  const tries: unknown[][] = [];
  const run: Run = async (statement, parameters) => {
    if (statement.name !== 'take_lanes') return db.run(statement, parameters);
    await db.run(renew('1 minute'), { paused });
    const taken = await db.run<never>(statement, parameters);
    tries.push(taken);
    return taken;
  };
  const ignore = () => undefined;
  const leases = new LaneLeases({
    db: { run },
    logger: createLogger('fatal'),
    onTaken: ignore,
    onLost: ignore,
    beforeRelease: async () => undefined,
    onReleased: ignore,
  });
  leases.start();
  await vi.waitFor(() => expect(tries).toEqual([[]]));
  expect(leases.lanes).toEqual([]);
  await leases.stop();
  await database.close();
});
