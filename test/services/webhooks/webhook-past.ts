import type pg from 'pg';
import type { WebhooksFixture } from './webhooks-fixture.ts';

/** A UUIDv7 of a time with the rest of another one. */
const MOVE_ID = `
create or replace function webhooks.moved_id(id uuid, back interval) returns uuid language sql immutable as $$
  select (left(platform.first_id(uuid_extract_timestamp(id) - back)::text, 13) || substr(id::text, 14))::uuid
$$`;

/** The tables of events, deliveries and attempts, with their id columns. */
const IDS: Readonly<Record<string, readonly string[]>> = {
  event: ['id'],
  open_delivery: ['id', 'event_id'],
  ended_delivery: ['id', 'event_id'],
  attempt: ['delivery_id'],
};

/** Makes all events, deliveries and attempts of a merchant older by this interval. */
export async function backdate(fixture: WebhooksFixture, merchantId: string, age: string): Promise<void> {
  await fixture.sql(MOVE_ID);
  await fixture.sql(
    `select webhooks.ensure_partitions(environment, now() - $1::interval - interval '1 hour', now() - $1::interval)
       from webhooks.subscription where merchant_id = $2`,
    [age, merchantId],
  );
  for (const [table, columns] of Object.entries(IDS)) {
    const moves = columns.map((column) => `${column} = webhooks.moved_id(${column}, $2::interval)`);
    await fixture.sql(`update webhooks.${table} set ${moves.join(', ')} where merchant_id = $1`, [
      merchantId,
      age,
    ]);
  }
}

interface PartitionName {
  name: string;
}

/** The partitions of an environment by name, including those that are being detached or left over. */
export async function partitionNames(
  fixture: WebhooksFixture,
  environment: 'live' | 'test',
): Promise<string[]> {
  const rows = await fixture.sql<PartitionName>(
    `select relname as name from pg_class
      where relnamespace = 'webhooks'::regnamespace and relkind = 'r' and relname ~ ('_' || $1 || '_\\d{8}$')
      order by relname`,
    [environment],
  );
  return rows.map(({ name }) => name);
}

/** The logged past of a merchant and subscription: this many events, one delivery of each, and its attempts. */
export interface PastDeliveries {
  readonly merchantId: string;
  readonly subscriptionId: string;
  readonly from: Date;
  readonly to: Date;
  readonly deliveries: number;
  readonly attemptsEach: number;
}

const PAST = `
  select n, at, (left(platform.first_id(at)::text, 13) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid as id
    from generate_series(1, $4::int) as n
   cross join lateral (select $2::timestamptz + n::float8 / $4 * ($3::timestamptz - $2::timestamptz) as at) as time
   where $1::uuid is not null`;

/** Fills the log of live deliveries; its partitions must be there. Each statement is a transaction. */
export async function insertPastDeliveries(client: pg.Client, past: PastDeliveries): Promise<void> {
  const { merchantId, subscriptionId, from, to, deliveries, attemptsEach } = past;
  const values = [merchantId, from, to, deliveries];
  await client.query(
    `insert into webhooks.event (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
     select $1, 'live', id, 'payment.succeeded.v1', 'object-' || n, 1, 'request-' || n, at, '{"id":"' || id || '"}'
       from (${PAST}) as past`,
    values,
  );
  await client.query(
    `insert into webhooks.ended_delivery
       (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
        status, attempt_count, ended_at)
     select $1, 'live', id, $5, id, 'payment.succeeded.v1', 'object-' || n, 1, 'request-' || n, false,
            'SUCCEEDED', $6, at
       from (${PAST}) as past`,
    [...values, subscriptionId, attemptsEach],
  );
  await client.query(
    `insert into webhooks.attempt
       (merchant_id, environment, delivery_id, number, generation, started_at, ended_at, latency_ms, http_status)
     select $1, 'live', id, number, 1, at, at, 12, case when number = $5 then 200 else 500 end
       from (${PAST}) as past cross join generate_series(1, $5::int) as number`,
    [...values, attemptsEach],
  );
}
