import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { createServices } from '../../../../services/server.ts';
import {
  newTenant,
  newWrite,
  startHarness,
  type TestHarness,
  type TestTenant,
} from '../../../support/harness.ts';
import { scrape } from '../../../support/scrape.ts';
import { type Attempts, startAttempts } from '../attempts/attempts-fixture.ts';
import { eventually, startLanesFixture } from '../lanes/lanes-fixture.ts';
import { type WebhooksFixture, webhooksFixture } from '../webhooks-fixture.ts';

const DAY_S = 86_400;

let harness: TestHarness;
let fixture: WebhooksFixture;
let attempts: Attempts;

beforeEach(async () => {
  harness = await startHarness({
    SERVICES: 'webhooks',
    WEBHOOK_RETRY_WORKFLOW_LIMIT: '1',
    // In the sandbox the first failure is the last.
    WEBHOOK_SCHEDULE_SANDBOX: '0s',
  });
  fixture = webhooksFixture(harness, harness.transports.inProcess);
  attempts = await startAttempts(harness);
});
afterEach(async () => {
  await attempts.close();
  await harness.close();
});

/** Measurements are cached for up to a minute; those of newly started services are fresh. */
async function scrapeAnew() {
  const { config, databaseUrl } = harness;
  const services = await createServices({ config, databaseUrl, logger: createLogger('silent') });
  const scraped = await scrape();
  await services.close();
  return scraped;
}

/** Records a status for all waiting deliveries, one after the other. */
const answerAll = (status: number) => attempts.answerAll(status);

async function subscribeOrdered(tenant: TestTenant) {
  await fixture.subscriptions.createWebhookSubscription({
    ...newWrite(tenant),
    ordered: true,
    url: 'https://93.184.215.14/ordered',
    eventTypes: ['payment.succeeded.v1'],
  });
}

describe('a scrape reports', () => {
  it('how many lanes have no owner', async () => {
    const unowned = async () => (await scrapeAnew())('payments_webhook_unowned_lanes');
    expect(await unowned()).toBe(64);
    const { databaseUrl } = harness;
    const owner = await startHarness({}, undefined, databaseUrl);
    owner.services.startWebhookLanes();
    await eventually(async () => expect(await unowned()).toBe(0));
    await owner.close();
    expect(await unowned()).toBe(64);
  });

  it('open deliveries by status, and how overdue the retry is that has waited longest', async () => {
    const tenant = newTenant();
    await subscribeOrdered(tenant);
    await answerAll(200);
    const objectId = randomUUID();
    for (let count = 0; count < 2; count += 1) await fixture.publish(tenant, objectId);
    for (let count = 0; count < 2; count += 1) await fixture.publish(tenant);
    // Of the three that may be sent, one is retried, as the limit allows, and two are held; the fourth waits for the
    // first.
    await answerAll(500);
    await fixture.subscribe(newTenant());
    const scraped = await scrapeAnew();
    const open = (status: string) =>
      scraped(`payments_webhook_open_deliveries{environment="live",status="${status}"}`);
    expect([open('RETRYING'), open('HELD'), open('BLOCKED'), open('PENDING')]).toEqual([1, 2, 1, 1]);
    expect(scraped('payments_webhook_open_deliveries{environment="test",status="HELD"}')).toBe(0);
    expect(scraped('payments_webhook_troubled_subscriptions{environment="live",condition="HOLDING"}')).toBe(
      1,
    );
    expect(scraped('payments_webhook_retry_overdue_seconds')).toBe(0);
    await fixture.sql(
      "update webhooks.open_delivery set next_attempt_at = now() - interval '700 seconds' where status = 'RETRYING'",
    );
    expect((await scrapeAnew())('payments_webhook_retry_overdue_seconds')).toBeGreaterThanOrEqual(700);
  });

  it('the delay of first attempts after the commit, and attempts by their outcome', async () => {
    await using webhooks = await startLanesFixture();
    const tenant = newTenant(Environment.TEST);
    const { endpoint } = await webhooks.subscribed(tenant);
    const count = async (series: string) => (await scrape())(`payments_webhook_${series}`) ?? 0;
    const series = [
      'first_attempt_delay_seconds_count{environment="test"}',
      'attempts_total{environment="test",outcome="delivered"}',
      'attempts_total{environment="test",outcome="5xx"}',
    ];
    const counts = () => Promise.all(series.map(count));
    const before = await counts();
    const { id: eventId } = await webhooks.publish(tenant);
    await eventually(() => expect(endpoint.eventIds).toContain(eventId));
    endpoint.answer(500);
    await webhooks.publish(tenant);
    await eventually(async () => expect(await webhooks.statuses(tenant)).toEqual(['SUCCEEDED', 'RETRYING']));
    const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, pageSize: 1 });
    // A retry is no first attempt.
    await webhooks.attemptAgain(tenant, deliveries[0]!.id);
    const after = await counts();
    expect(after.map((value, index) => value - before[index]!)).toEqual([2, 1, 2]);
  });

  it('how many subscriptions are in ERROR or paused, and for how long', async () => {
    const tenant = newTenant(Environment.TEST);
    const { id } = await fixture.subscribe(tenant);
    await answerAll(500);
    await fixture.subscriptions.pauseWebhookSubscription({ ...newWrite(tenant), subscriptionId: id });
    await fixture.sql(
      "update webhooks.subscription set paused_at = now() - interval '26 hours' where paused_at is not null",
    );
    const scraped = await scrapeAnew();
    const paused = (environment: string) =>
      scraped(`payments_webhook_longest_pause_seconds{environment="${environment}"}`)! / 3_600;
    expect(paused('test')).toBeCloseTo(26, 1);
    expect(paused('live')).toBe(0);
    const troubled = (condition: string) =>
      scraped(`payments_webhook_troubled_subscriptions{environment="test",condition="${condition}"}`);
    expect([troubled('ERROR'), troubled('PAUSED'), troubled('HOLDING')]).toEqual([1, 1, 0]);
  });

  it('how many workflow commands wait', async () => {
    const before = await scrapeAnew();
    const tenant = newTenant();
    const { id } = await fixture.subscribe(tenant);
    await answerAll(500);
    await fixture.subscriptions.disableWebhookSubscription({ ...newWrite(tenant), subscriptionId: id });
    const waiting = await scrapeAnew();
    expect(waiting('payments_workflow_outbox_commands')).toBe(
      before('payments_workflow_outbox_commands')! + 1,
    );
    expect(waiting('payments_workflow_command_lag_seconds')).toBeGreaterThan(0);
  });

  it('how far ahead partitions reach, for the log that ends first', async () => {
    const partitionLead = (scraped: Awaited<ReturnType<typeof scrape>>, environment: string) =>
      scraped(`payments_webhook_partition_runway_seconds{environment="${environment}"}`)! / DAY_S;
    const before = await scrapeAnew();
    expect(partitionLead(before, 'live')).toBeGreaterThanOrEqual(14);
    expect(partitionLead(before, 'live')).toBeLessThanOrEqual(21);
    expect(partitionLead(before, 'test')).toBeGreaterThanOrEqual(7);
    expect(partitionLead(before, 'test')).toBeLessThanOrEqual(8);
    const [last] = await fixture.sql<{ name: string }>(
      "select max(inhrelid::regclass::text) as name from pg_inherits where inhparent = 'webhooks.attempt_test'::regclass",
    );
    await fixture.sql(`drop table ${last!.name}`);
    const after = await scrapeAnew();
    expect(partitionLead(before, 'test') - partitionLead(after, 'test')).toBeCloseTo(1, 2);
    expect(partitionLead(after, 'live')).toBeCloseTo(partitionLead(before, 'live'), 2);
  });

  it('how old the oldest partition is', async () => {
    const age = async () =>
      (await scrapeAnew())('payments_webhook_partition_age_seconds{environment="live"}')! / DAY_S;
    expect(await age()).toBeLessThanOrEqual(7);
    await fixture.sql(
      "select webhooks.ensure_partitions('live', now() - interval '50 days', now() - interval '50 days')",
    );
    expect(await age()).toBeGreaterThanOrEqual(50);
    expect(await age()).toBeLessThanOrEqual(57);
  });

  it('NaN while the database is unavailable', async () => {
    const { config, databaseUrl } = harness;
    const services = await createServices({ config, databaseUrl, logger: createLogger('silent') });
    await services.close();
    const scraped = await scrape();
    expect(scraped('payments_webhook_unowned_lanes')).toBeNaN();
    expect(scraped('payments_webhook_open_deliveries{environment="live",status="HELD"}')).toBeNaN();
    expect(scraped('payments_webhook_partition_runway_seconds{environment="live"}')).toBeNaN();
    expect(scraped('process_cpu_seconds_total')).toBeGreaterThan(0);
  });
});
