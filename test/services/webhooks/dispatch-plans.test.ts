import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../../../services/platform/database/database.ts';
import { CLAIM } from '../../../services/webhooks/dispatch/claim-deliveries.ts';
import { newBatchIds } from '../../../services/webhooks/dispatch/claimed-delivery.ts';
import { FAN_OUT } from '../../../services/webhooks/dispatch/fan-out.ts';
import { READ_OPEN } from '../../../services/webhooks/dispatch/get-attempt.sql.ts';
import {
  READ_REPORTED,
  RECORD,
  RECORD_SUCCESSES,
} from '../../../services/webhooks/dispatch/record-attempts.sql.ts';
import { newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import { webhooksFixture } from './webhooks-fixture.ts';

const SIZE = 24;
const BACKLOG = 30_000;
/** What looks up each of its deliveries in a few indexes needs less; what reads a table needs more. */
const MOST_BLOCKS = 60 * SIZE;

let harness: TestHarness;
let database: Database;
let connection: PoolClient;
let ids: string[];

const STATEMENTS = {
  fan_out: { types: 'float8, float8, text, int, uuid, uuid', ...FAN_OUT },
  claim_deliveries: { types: 'uuid, int, text, uuid, uuid, uuid[]', ...CLAIM },
  read_open: { types: 'uuid[]', ...READ_OPEN },
  record_successes: { types: 'json, uuid[]', ...RECORD_SUCCESSES },
  read_reported: { types: 'uuid[], int[]', ...READ_REPORTED },
  record_attempts: { types: 'json, uuid[]', ...RECORD },
};

/** Statements are planned while there is nothing; then a backlog comes that nobody has analyzed yet. */
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'webhooks' });
  const fixture = webhooksFixture(harness, harness.transports.inProcess);
  database = await Database.open({
    ...{ url: harness.databaseUrl, poolSize: 1, preparedStatements: true, entities: [] },
  });
  connection = await database.connect();
  for (const { name, types, text } of Object.values(STATEMENTS))
    await connection.query(`prepare ${name} (${types}) as ${text}`);
  for (const [name, values] of Object.entries(valuesOf([]))) await connection.query(executed(name, values));
  const tenant = newTenant();
  const { id } = await fixture.subscribe(tenant);
  await connection.query(`update webhooks.subscription set state = 'ACTIVE'`);
  const event = `'${tenant.merchantId}', 'live', uuidv7(), 'payment.succeeded.v1', n::text, 1, 'r', now(), '{}'`;
  await connection.query(
    `insert into webhooks.event select ${event} from generate_series(1, ${BACKLOG}) as n`,
  );
  await connection.query(
    `insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, event_id, event_type,
       object_id, sequence, request_id, ordered, status, attempt_count, next_attempt_at)
     select merchant_id, environment, uuidv7(), '${id}', id, type, object_id, sequence, request_id, false, 'PENDING',
            0, now() from webhooks.event`,
  );
  await connection.query(
    `insert into platform.outbox_event select ${event} from generate_series(1, ${SIZE}) as n`,
  );
  const { rows } = await connection.query<{ id: string }>(
    `select id from webhooks.open_delivery order by id desc limit ${SIZE}`,
  );
  ids = rows.map((row) => row.id);
});
afterAll(async () => {
  connection.release();
  await database.close();
  await harness.close();
});

function valuesOf(deliveries: readonly string[]): Record<keyof typeof STATEMENTS, unknown[]> {
  const now = new Date().toISOString();
  const { live, test } = newBatchIds();
  const report = (delivery_id: string) => ({ delivery_id, number: 1, generation: 1, started_at: now });
  const successes = deliveries.map((id) => ({ ...report(id), ended_at: now, http_status: 200 }));
  const failures = deliveries.map((id) => ({
    ...{ ...report(id), environment: 'live', known_status: 'PENDING', known_count: 0, status: 'RETRYING' },
    ...{ attempt_started_at: now, attempt_ended_at: now, next_attempt_at: now, http_status: 500 },
  }));
  const array = `{${deliveries.join()}}`;
  return {
    fan_out: [0, 0, 'worker', SIZE, live, test],
    claim_deliveries: [randomUUID(), SIZE, 'worker', live, test, '{}'],
    read_open: [array],
    record_successes: [JSON.stringify(successes), array],
    read_reported: [array, `{${deliveries.map(() => 1).join()}}`],
    record_attempts: [JSON.stringify(failures), array],
  };
}

const executed = (name: string, values: readonly unknown[]) =>
  `execute ${name} (${values.map((value) => (typeof value === 'number' ? value : `'${value}'`)).join()})`;

it.each(Object.keys(STATEMENTS) as (keyof typeof STATEMENTS)[])(
  '%s reads no more by a backlog that came after it was planned',
  async (name) => {
    await connection.query('begin');
    const { rows } = await connection.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, format json) ${executed(name, valuesOf(ids)[name])}`,
    );
    await connection.query('rollback');
    const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
    expect(plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!).toBeLessThan(MOST_BLOCKS);
  },
);
