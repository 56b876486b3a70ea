import { createClient } from '@connectrpc/connect';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { DeliveryService, DeliveryStatus } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { pagesOf } from '../../services/platform/rpc/pages-of.ts';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import { openSession } from '../support/sql.ts';
import type { LoggedAttempt, LoggedDelivery } from './records.ts';
import type { System } from './system.ts';

/** The counts of unfinished work by name; all zero once the system has settled. */
export type Remainder = Readonly<Record<string, number>>;

/**
 * Bypasses the links: counts waiting rows, open workflows, and those of the Schedules that the worker has yet to create
 * again after Temporal lost its state.
 */
export async function countRemainder(system: System, schedules: readonly string[]): Promise<Remainder> {
  const { databaseUrl, temporal } = system;
  const [counts] = await query<Record<string, number>>(
    databaseUrl,
    `select (select count(*)::int from platform.outbox_command) as "outbox commands",
            (select count(*)::int from webhooks.delivery where ended_at is null) as "open deliveries",
            (select count(*)::int from webhooks.attempt where ended_at is null) as "open attempts"`,
  );
  const { count } = await temporal.client.workflow.count("ExecutionStatus = 'Running'");
  const existing = new Set(await listSchedules(system));
  const missing = schedules.filter((id) => !existing.has(id)).length;
  return { ...counts, 'open workflows': count, 'missing schedules': missing };
}

/** The ids of Temporal's Schedules. */
export const listSchedules = ({ temporal }: System): Promise<string[]> =>
  Array.fromAsync(temporal.client.schedule.list(), ({ scheduleId }) => scheduleId);

/** All deliveries of the merchants, by the list that teams see, with the attempts of each. */
export async function listDeliveries(
  system: System,
  merchantIds: readonly string[],
): Promise<LoggedDelivery[]> {
  const attempts = await attemptsByDelivery(system.databaseUrl, merchantIds);
  const client = createClient(DeliveryService, remoteTransport(system.servicesUrl, system.token));
  const found: LoggedDelivery[] = [];
  for (const merchantId of merchantIds) {
    const tenant = { merchantId, environment: Environment.TEST };
    for await (const answer of pagesOf((page) => client.listDeliveries({ ...tenant, ...page }))) {
      for (const { id, subscriptionId, eventId, eventType, resendId, ...rest } of answer.deliveries) {
        const { attemptCount, status } = rest;
        const named = { id, subscriptionId, eventId, eventType, resendId, attemptCount };
        found.push({ ...named, status: DeliveryStatus[status], attempts: attempts.get(id) ?? [] });
      }
    }
  }
  return found;
}

interface AttemptRow {
  readonly delivery_id: string;
  readonly number: number;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly http_status: number | null;
  readonly failure: string | null;
}

/** With one statement, because calls for a hundred thousand deliveries would take longer than the run. */
async function attemptsByDelivery(databaseUrl: string, merchantIds: readonly string[]) {
  const rows = await query<AttemptRow>(
    databaseUrl,
    `select delivery_id, number, started_at, ended_at, http_status, failure from webhooks.delivery_attempt
      where merchant_id = any ($1) order by delivery_id, number`,
    [merchantIds],
  );
  const attempts = rows.map((row): [string, LoggedAttempt] => [
    row.delivery_id,
    {
      number: row.number,
      startedAt: row.started_at.getTime(),
      endedAt: row.ended_at?.getTime(),
      httpStatus: row.http_status ?? undefined,
      failure: row.failure ?? undefined,
    },
  ]);
  return new Map(
    [...Map.groupBy(attempts, ([id]) => id)].map(([id, own]) => [id, own.map(([, attempt]) => attempt)]),
  );
}

/** All events of the merchants, whether or not a publisher got a response. */
export function listEvents(databaseUrl: string, merchantIds: readonly string[]) {
  return query<{ id: string; type: string }>(
    databaseUrl,
    'select id, type from webhooks.event where merchant_id = any ($1)',
    [merchantIds],
  );
}

async function query<Row>(databaseUrl: string, text: string, values: unknown[] = []): Promise<Row[]> {
  await using client = await openSession(databaseUrl);
  const { rows } = await client.query(text, values);
  return rows;
}
