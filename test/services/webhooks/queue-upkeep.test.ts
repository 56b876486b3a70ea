import { afterAll, beforeAll, expect, it } from 'vitest';
import { CrossTenantDatabase } from '../../../services/platform/database/cross-tenant-database.ts';
import { Database } from '../../../services/platform/database/database.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { QueueUpkeep } from '../../../services/webhooks/dispatch/queue-upkeep.ts';
import { newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import { webhooksFixture } from './webhooks-fixture.ts';

let harness: TestHarness;
let database: Database;
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'webhooks' });
  database = await Database.open({
    url: harness.databaseUrl,
    ...{ poolSize: 2, preparedStatements: true, entities: [] },
  });
});
afterAll(async () => {
  await database.close();
  await harness.close();
});

const TABLES = ['open_delivery', 'outbox_command', 'outbox_event'];

it('cleans up the tables of dispatch once enough has gone through them', async () => {
  const fixture = webhooksFixture(harness, harness.transports.inProcess);
  const vacuumed = async () => {
    const rows = await fixture.sql<{ relname: string }>(
      'select relname from pg_stat_user_tables where vacuum_count > 0 order by relname',
      [],
    );
    return rows.map(({ relname }) => relname);
  };
  const tenant = newTenant();
  await fixture.subscribe(tenant);
  await fixture.publish(tenant);
  const upkeep = new QueueUpkeep(new CrossTenantDatabase(database), createLogger('fatal'), 10);
  upkeep.handled(9);
  expect(await fixture.claimKeys()).toHaveLength(2);
  upkeep.handled(1);
  await expect.poll(vacuumed, { timeout: 40_000 }).toEqual(TABLES);
});
