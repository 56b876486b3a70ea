import { beforeEach, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WorkflowCommandKind } from '../../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { WebhookSubscriptionState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { startWebhooks } from '../attempts/attempts-fixture.ts';

const { ACTIVE, ERROR, DISABLED } = WebhookSubscriptionState;

// One attempt: the first failure exhausts a delivery.
const { fixture, attempts } = await startWebhooks({ WEBHOOK_SCHEDULE_SANDBOX: '0s' });
beforeEach(() => fixture.sql('truncate platform.outbox_command'));

/** A merchant with a subscription that has answered its ping. */
async function activeSubscription() {
  const tenant = newTenant(Environment.TEST);
  const { id } = await fixture.subscribe(tenant);
  await attempts.answerAll(204);
  return { tenant, id };
}

async function publishAndAnswer(tenant: TestTenant, httpStatus: number, events = 1): Promise<void> {
  await fixture.publishMany(tenant, events);
  await attempts.answerAll(httpStatus);
}

async function stateOf(tenant: TestTenant, subscriptionId: string) {
  return (await fixture.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId })).subscription!
    .state;
}

const notices = async () =>
  (await fixture.claimCommands()).filter(({ workflowType }) => workflowType === 'notifyContact');

it('notifies the contact when a subscription enters ERROR, but not of later failures', async () => {
  const { tenant, id } = await activeSubscription();
  await publishAndAnswer(tenant, 500, 3);
  expect(await stateOf(tenant, id)).toBe(ERROR);
  await publishAndAnswer(tenant, 500);
  const started = await notices();
  expect(started).toMatchObject([
    {
      kind: WorkflowCommandKind.START,
      workflowId: `notice-WEBHOOK_ERROR-${id}`,
      ...tenant,
      requestId: expect.stringMatching(/./),
    },
  ]);
  expect(JSON.parse(started[0]!.argumentsJson)).toEqual([
    { merchantId: tenant.merchantId, environment: 'test', kind: 'WEBHOOK_ERROR', subjectId: id },
  ]);
});

it('notifies the contact again if it had recovered in between', async () => {
  const { tenant, id } = await activeSubscription();
  await publishAndAnswer(tenant, 500);
  await publishAndAnswer(tenant, 204);
  expect(await stateOf(tenant, id)).toBe(ACTIVE);
  await publishAndAnswer(tenant, 500);
  expect(await notices()).toHaveLength(2);
});

it('notifies the contact of a 410, but not when a person disables the subscription', async () => {
  const gone = await activeSubscription();
  await publishAndAnswer(gone.tenant, 410);
  expect(await stateOf(gone.tenant, gone.id)).toBe(DISABLED);
  const { tenant, id } = await activeSubscription();
  const request = { ...newWrite(tenant), subscriptionId: id };
  await fixture.subscriptions.disableWebhookSubscription(request);
  const started = await notices();
  expect(started.map(({ workflowId }) => workflowId)).toEqual([`notice-WEBHOOK_GONE-${gone.id}`]);
});

it.each([
  { which: 'that was well', before: 204 },
  { which: 'that was in ERROR', before: 500 },
])('notifies the contact once of a subscription $which whose deliveries expire', async ({ before }) => {
  const { tenant, id } = await activeSubscription();
  await publishAndAnswer(tenant, before);
  await fixture.publishMany(tenant, 3);
  await fixture.sql(
    `update webhooks.open_delivery set event_id = '00000000-0000-7000-8000-000000000000', resend_id = uuidv7()
      where merchant_id = $1`,
    [tenant.merchantId],
  );
  expect(await fixture.dispatch.applyRetention({})).toMatchObject({ expiredDeliveries: 3n });
  expect(await stateOf(tenant, id)).toBe(ERROR);
  const started = await notices();
  expect(started.map(({ workflowId }) => workflowId)).toEqual([`notice-WEBHOOK_ERROR-${id}`]);
});
