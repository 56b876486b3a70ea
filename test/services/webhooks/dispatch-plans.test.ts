import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../../../services/platform/database/database.ts';
import { bindNamed, type NamedParameters } from '../../../services/platform/database/named-sql.ts';
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

/** What each statement takes, with the types of its parameters. */
const STATEMENTS = {
  fan_out: {
    text: FAN_OUT.text,
    types: {
      liveWaitMs: 'float8',
      testWaitMs: 'float8',
      caller: 'text',
      max: 'int',
      liveBatchId: 'uuid',
      testBatchId: 'uuid',
    },
  },
  claim_deliveries: {
    text: CLAIM.text,
    types: {
      after: 'uuid',
      max: 'int',
      caller: 'text',
      liveBatchId: 'uuid',
      testBatchId: 'uuid',
      budgets: 'uuid[]',
    },
  },
  read_open: { text: READ_OPEN.text, types: { ids: 'uuid[]' } },
  record_successes: { text: RECORD_SUCCESSES.text, types: { rows: 'json', ids: 'uuid[]' } },
  read_reported: { text: READ_REPORTED.text, types: { ids: 'uuid[]', numbers: 'int[]' } },
  record_attempts: { text: RECORD.text, types: { rows: 'json', ids: 'uuid[]' } },
} as const;
type StatementName = keyof typeof STATEMENTS;
const NAMES = Object.keys(STATEMENTS) as StatementName[];

/** Statements are planned while there is nothing; then a backlog comes that nobody has analyzed yet. */
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'webhooks' });
  const fixture = webhooksFixture(harness, harness.transports.inProcess);
  database = await Database.open({
    ...{ url: harness.databaseUrl, poolSize: 1, preparedStatements: true, entities: [] },
  });
  connection = await database.connect();
  for (const name of NAMES) {
    const { text, values: types } = bindNamed(STATEMENTS[name].text, STATEMENTS[name].types);
    await connection.query(`prepare ${name} (${types.join()}) as ${text}`);
    await connection.query(executed(name, valuesOf([])[name]));
  }
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

function valuesOf(deliveries: readonly string[]): Record<StatementName, NamedParameters> {
  const now = new Date().toISOString();
  const { live, test } = newBatchIds();
  const report = (delivery_id: string) => ({ delivery_id, number: 1, generation: 1, started_at: now });
  const successes = deliveries.map((id) => ({ ...report(id), ended_at: now, http_status: 200 }));
  const failures = deliveries.map((id) => ({
    ...{ ...report(id), environment: 'live', known_status: 'PENDING', known_count: 0, status: 'RETRYING' },
    ...{ attempt_started_at: now, attempt_ended_at: now, next_attempt_at: now, http_status: 500 },
  }));
  const array = `{${deliveries.join()}}`;
  const claim = { caller: 'worker', max: SIZE, liveBatchId: live, testBatchId: test };
  return {
    fan_out: { ...claim, liveWaitMs: 0, testWaitMs: 0 },
    claim_deliveries: { ...claim, after: randomUUID(), budgets: '{}' },
    read_open: { ids: array },
    record_successes: { rows: JSON.stringify(successes), ids: array },
    read_reported: { ids: array, numbers: `{${deliveries.map(() => 1).join()}}` },
    record_attempts: { rows: JSON.stringify(failures), ids: array },
  };
}

function executed(name: StatementName, parameters: NamedParameters): string {
  const { values } = bindNamed(STATEMENTS[name].text, parameters);
  const literals = values.map((value) => (typeof value === 'number' ? value : `'${value}'`));
  return `execute ${name} (${literals.join()})`;
}

it.each(NAMES)('%s reads no more by a backlog that came after it was planned', async (name) => {
  await connection.query('begin');
  const { rows } = await connection.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    `explain (analyze, buffers, format json) ${executed(name, valuesOf(ids)[name])}`,
  );
  await connection.query('rollback');
  const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
  expect(plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!).toBeLessThan(MOST_BLOCKS);
});
