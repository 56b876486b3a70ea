import { fileURLToPath } from 'node:url';
import { createClient } from '@connectrpc/connect';
import { expect, it, vi } from 'vitest';
import { AccountService, Language } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type NotifyContactInput,
  workflowId,
  workflowType,
} from '../../../services/contracts/accounts/notify-contact.contract.ts';
import { createActivities } from '../../../workflows/activities.ts';
import { connectProviders } from '../../../workflows/provider-clients.ts';
import { STARTED_AGAIN_SIGNAL } from '../../../workflows/temporal/outbox-start.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { exhausted } from '../../services/webhooks/subscriptions/subscription-errors.ts';
import { webhooksFixture } from '../../services/webhooks/webhooks-fixture.ts';
import { startActivityWorker } from '../../support/activity-worker.ts';
import { newTenant, newWrite } from '../../support/harness.ts';
import { mailTo, startNotices } from './notice-fixture.ts';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** With the workflow of notices alone, whose hours are short. */
const { harness, temporal, inbox } = await startNotices(({ config, transports }, namespace) => {
  const providers = connectProviders(config);
  const activities = createActivities({ transport: transports.inProcess, providers, config });
  return startActivityWorker(namespace, activities, {
    workflowsPath: path('../../../workflows/accounts/notify-contact.workflow.ts'),
    interceptors: { workflowModules: [path('short-hours.ts')] },
  });
});
const fixture = webhooksFixture(harness, harness.transports.inProcess);

/** A subscription that can be put into ERROR, with a contact. */
async function createSubscription() {
  const tenant = newTenant(Environment.TEST);
  const email = `contact-${tenant.merchantId}@merchant.example`;
  await createClient(AccountService, harness.transports.inProcess).setMerchantContact({
    ...newWrite(tenant),
    email,
    language: Language.EN,
  });
  const { id } = await fixture.subscribe(tenant, undefined, `https://127.0.0.1/${tenant.merchantId}`);
  const fails = (status: number) =>
    fixture.sql(
      `update webhooks.subscription set state = 'ERROR', error_at = clock_timestamp(), error = $1 where id = $2`,
      [exhausted(1, { httpStatus: status }), id],
    );
  const input: NotifyContactInput = {
    merchantId: tenant.merchantId,
    environment: 'test',
    kind: 'WEBHOOK_ERROR',
    subjectId: id,
  };
  /** Starts the workflow as the outbox relay does. */
  const start = () =>
    temporal.client.workflow.signalWithStart(workflowType, {
      taskQueue: TASK_QUEUE,
      workflowId: workflowId('WEBHOOK_ERROR', id),
      args: [input],
      signal: STARTED_AGAIN_SIGNAL,
    });
  return { email, fails, start };
}

const reasons = (email: string) =>
  inbox.mailTo(email).map(({ mail }) => /status (\d+)/.exec(mail.text ?? '')?.[1]);

it('sends the latest failure at the end of the hour when the webhook is still failing', async () => {
  const { email, fails, start } = await createSubscription();
  await fails(500);
  const handle = await start();
  await mailTo(inbox, email);
  for (const status of [501, 502, 503]) {
    await fails(status);
    await start();
  }
  expect(await handle.result()).toMatchObject({ outcome: 'NOTIFIED', sent: 1 });
  expect(reasons(email)).toEqual(['500', '503']);
});

it('sends nothing more when started again for the same failure', async () => {
  const { email, fails, start } = await createSubscription();
  await fails(500);
  const handle = await start();
  await mailTo(inbox, email);
  await start();
  expect(await handle.result()).toEqual({ outcome: 'NO_LONGER_DUE' });
  expect(reasons(email)).toEqual(['500']);
});

it('ends after the hour when nothing else has happened', async () => {
  const { email, fails, start } = await createSubscription();
  await fails(500);
  const handle = await start();
  expect(await handle.result()).toEqual({ outcome: 'NOTIFIED', sent: 1, rejected: 0, unsent: 0 });
  expect((await handle.describe()).runId).toBe(handle.signaledRunId);
  expect(reasons(email)).toEqual(['500']);
});

it('continues the quiet hour in a new run after too many starts', async () => {
  const { email, fails, start } = await createSubscription();
  inbox.rejections.set(email, { at: 'RCPT', code: 451 });
  await fails(500);
  const handle = await start();
  await vi.waitFor(() => expect(inbox.attempts(email)).toBeGreaterThan(0), { timeout: 40_000 });
  await Promise.all(Array.from({ length: 250 }, start));
  inbox.rejections.delete(email);
  await mailTo(inbox, email);
  const first = temporal.client.workflow.getHandle(handle.workflowId, handle.signaledRunId);
  await vi.waitFor(async () => expect((await first.describe()).status.name).toBe('CONTINUED_AS_NEW'), 40_000);
  const next = temporal.client.workflow.getHandle(handle.workflowId);
  await fails(501);
  await start();
  await next.result();
  expect(reasons(email)).toEqual(['500', '501']);
  expect((await first.fetchHistory()).events!.some((event) => event.timerFiredEventAttributes)).toBe(false);
  const steps = (await next.fetchHistory()).events!.flatMap((event) => {
    if (event.timerFiredEventAttributes) return ['quiet period'];
    return event.activityTaskScheduledEventAttributes ? ['find notice'] : [];
  });
  expect(steps.slice(0, 2)).toEqual(['quiet period', 'find notice']);
});
