import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { AttemptResult } from '../../../../services/webhooks/deliveries/delivery.ts';
import { EndpointTally } from '../../../../services/webhooks/health/endpoint-tally.ts';
import { failingEndpointNotices } from '../../../../services/webhooks/health/failing-notices.ts';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { eventually, startLanesFixture } from '../lanes/lanes-fixture.ts';

let tenant: TestTenant;
const webhooks = await startLanesFixture();
afterAll(() => webhooks[Symbol.asyncDispose]());
beforeEach(() => {
  tenant = newTenant(Environment.TEST);
});

const healthOf = async (subscriptionId: string) => {
  const request = { ...tenant, subscriptionId, withHealth: true };
  return (await webhooks.subscriptions.getWebhookSubscription(request)).subscription!.health;
};

it('an endpoint is failing from its first failure to the next success', async () => {
  const endpoint = webhooks.endpoint();
  endpoint.answer(500);
  const { id } = await webhooks.subscribe(tenant, ['payment.succeeded.v1'], endpoint.url);
  await webhooks.publish(tenant);
  await eventually(async () =>
    expect(await healthOf(id)).toMatchObject({ attempts: 2n, delivered: 0n, httpStatus: 500 }),
  );
  const { failingSince, p95Ms } = (await healthOf(id))!;
  expect(p95Ms).toBeGreaterThan(0);
  endpoint.answer(404);
  await webhooks.publish(tenant);
  await eventually(async () =>
    expect(await healthOf(id)).toMatchObject({ attempts: 3n, failingSince, httpStatus: 404 }),
  );
  const list = await webhooks.subscriptions.listWebhookSubscriptions({ ...tenant, withHealth: true });
  expect(list.subscriptions).toMatchObject([{ id, health: { attempts: 3n, delivered: 0n, failingSince } }]);

  endpoint.answer(200);
  await webhooks.publish(tenant);
  await eventually(async () => expect(await healthOf(id)).toMatchObject({ attempts: 4n, delivered: 1n }));
  const recovered = (await healthOf(id))!;
  expect([recovered.failingSince, recovered.httpStatus]).toEqual([undefined, undefined]);
  expect(recovered.lastSuccessAt).toBeDefined();
  endpoint.answer(503);
  await webhooks.publish(tenant);
  await eventually(async () => expect((await healthOf(id))!.failingSince).toBeDefined());
  expect((await healthOf(id))!.failingSince).not.toEqual(failingSince);
});

it('health is that of the current URL, and of an enabled subscription', async () => {
  const { id, endpoint } = await webhooks.subscribed(tenant);
  endpoint.answer(500);
  await webhooks.publish(tenant);
  await eventually(async () => expect((await healthOf(id))!.failingSince).toBeDefined());
  const write = () => ({ ...newWrite(tenant), subscriptionId: id });
  const next = webhooks.endpoint();
  await webhooks.subscriptions.updateWebhookSubscription({ ...write(), url: next.url });
  await eventually(async () => expect(await healthOf(id)).toMatchObject({ attempts: 1n, delivered: 1n }));
  await webhooks.subscriptions.disableWebhookSubscription(write());
  expect(await healthOf(id)).toBeUndefined();
});

it('a mail is due after a quarter of an hour of failing, once, unless it has recovered', async () => {
  const database = await openDatabase(webhooks.harness.databaseUrl);
  onTestFinished(() => database.close());
  const { id, endpoint } = await webhooks.subscribed(tenant);
  const failFor = async (minutes: number) => {
    await eventually(async () => expect((await healthOf(id))!.failingSince).toBeDefined());
    const earlier =
      'update webhooks.endpoint_health set failing_since = failing_since - make_interval(mins => $2)';
    await webhooks.sql(`${earlier} where subscription_id = $1`, [id, minutes]);
  };
  const notices = async () => {
    await database.transaction((em) => failingEndpointNotices.runBatch(em, database));
    const started = 'select arguments from platform.outbox_command where workflow_id = $1';
    return webhooks.sql(started, [`notice-WEBHOOK_FAILING-${id}`]);
  };
  const answer = async (httpStatus: number) => {
    endpoint.answer(httpStatus);
    await webhooks.publish(tenant);
  };
  await answer(500);
  await failFor(14);
  expect(await notices()).toEqual([]);
  await failFor(1);
  const { merchantId } = tenant;
  const input = { merchantId, environment: 'test', kind: 'WEBHOOK_FAILING', subjectId: id };
  expect(await notices()).toEqual([{ arguments: [input] }]);
  expect(await notices()).toHaveLength(1);
  await answer(200);
  await eventually(async () => expect((await healthOf(id))!.failingSince).toBeUndefined());
  expect(await notices()).toHaveLength(1);
  await answer(500);
  await failFor(16);
  expect(await notices()).toHaveLength(2);
});

it('an endpoint that accepts most deliveries is not failing just because the last attempt failed', () => {
  const result = (httpStatus: number): AttemptResult => ({ endedAt: new Date(), latencyMs: 5, httpStatus });
  const tallyOf = (...statuses: number[]) => {
    const tally = new EndpointTally('id', 1n);
    for (const status of statuses) tally.add(result(status));
    return tally.healthRow();
  };
  expect(tallyOf(200, 200, 200, 500)).toMatchObject({ failingSince: undefined, httpStatus: undefined });
  expect(tallyOf(200, 500)).toMatchObject({ failingSince: expect.any(Date), httpStatus: 500 });
  expect(tallyOf(500, 500, 200)).toMatchObject({ failingSince: undefined, httpStatus: undefined });
});
