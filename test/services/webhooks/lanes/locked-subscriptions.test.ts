import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { CrossTenantDatabase } from '../../../../services/platform/database/cross-tenant-database.ts';
import type { EnvironmentGuards } from '../../../../services/platform/egress/environment-guards.ts';
import { OutboxSignal } from '../../../../services/platform/outbox/outbox-signal.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import type { AttemptRecorder } from '../../../../services/webhooks/attempts/attempt-recorder.ts';
import type { ReportedAttempt } from '../../../../services/webhooks/deliveries/delivery.ts';
import { WebhookLanes } from '../../../../services/webhooks/lanes/webhook-lanes.ts';
import { createTestDatabase, newTenant, testConfig } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { eventually, type LanesFixture, startLanesFixture } from '../lanes-fixture.ts';

let webhooks: LanesFixture;
beforeAll(async () => {
  webhooks = await startLanesFixture();
});
afterAll(() => webhooks?.[Symbol.asyncDispose]());

/** A merchant whose endpoint answers 503. */
async function failing(from = webhooks) {
  const tenant = newTenant(Environment.TEST);
  const { id, endpoint } = await from.subscribed(tenant);
  endpoint.answer(503);
  return { tenant, id, endpoint, statuses: () => from.statuses(tenant) };
}

/** A transaction that holds a subscription until it is rolled back. */
async function lock({ id }: { readonly id: string }, from = webhooks) {
  const locking = new pg.Client({ connectionString: from.harness.databaseUrl });
  await locking.connect();
  onTestFinished(() => locking.end());
  await locking.query('begin');
  await locking.query('select from webhooks.subscription where id = $1 for update', [id]);
  return locking;
}

it('results wait while another transaction holds their subscription, without delaying others', async () => {
  const [held, other] = await Promise.all([failing(), failing()]);
  const locking = await lock(held);
  await webhooks.publish(held.tenant);
  await eventually(() => expect(held.endpoint.eventIds).toHaveLength(1));
  await webhooks.publish(other.tenant);
  await eventually(async () => expect(await other.statuses()).toEqual(['RETRYING']));
  expect(await held.statuses()).toEqual(['PENDING']);
  await locking.query('rollback');
  await eventually(async () => expect(await held.statuses()).toEqual(['RETRYING']));
});

it('results that wait for their subscription do not delay a hand-over of lanes', async () => {
  const stopping = await startLanesFixture();
  const held = await failing(stopping);
  const locking = await lock(held, stopping);
  await stopping.publish(held.tenant);
  await eventually(() => expect(held.endpoint.eventIds).toHaveLength(1));
  const stopped = stopping[Symbol.asyncDispose]();
  const owned = () => stopping.sql('select from webhooks.lane where owner_id is not null');
  await vi.waitFor(async () => expect(await owned()).toEqual([]), { timeout: 4_000, interval: 50 });
  await locking.query('rollback');
  await stopped;
});

/** The lost attempts are those of a hundred processes that died: the recorder is replaced. */
it('lost attempts that wait for their subscription are reported once, and leave room for others', async () => {
  const url = await createTestDatabase();
  const database = await openDatabase(url, { poolSize: 4 });
  const deadlineAt = new Date();
  const lost: ReportedAttempt = {
    deliveryId: uuidv7(),
    number: 1,
    generation: 1n,
    owner: undefined,
    workflowId: undefined,
    startedAt: deadlineAt,
    outcome: { result: { endedAt: deadlineAt, failure: 'WORKER_LOST' } },
  };
  const excluded: string[][] = [];
  const recorder = {
    async findLost(_lanes: readonly number[], exclude: readonly string[]) {
      excluded.push([...exclude]);
      return exclude.includes(lost.deliveryId) ? [] : [lost];
    },
    record: async (reports: readonly ReportedAttempt[]) => ({
      recorded: new Map(),
      locked: new Set(reports.map(({ deliveryId }) => deliveryId)),
    }),
  } as unknown as AttemptRecorder;
  const logger = createLogger('fatal');
  const guard = { close: async () => undefined };
  const lanes = new WebhookLanes({
    db: new CrossTenantDatabase(database),
    recorder,
    statistics: { close: async () => undefined },
    guards: { live: guard, test: guard } as EnvironmentGuards,
    keys: testConfig().WEBHOOK_SECRET_KEYS,
    outboxSignal: new OutboxSignal(database, logger),
    firstWaits: { live: 0, test: 0 },
    logger,
  });
  lanes.start();
  await eventually(() => expect(excluded.length).toBeGreaterThanOrEqual(3));
  expect(excluded.slice(1, 3)).toEqual([[lost.deliveryId], [lost.deliveryId]]);
  await lanes.close();
  await database.close();
});
