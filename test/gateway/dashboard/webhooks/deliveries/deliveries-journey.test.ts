import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Role } from '../../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { PaymentsWorker } from '../../../../../workflows/worker.ts';
import { sharedChromium } from '../../../../support/chromium.ts';
import { startHarnessWorker } from '../../../../support/harness-worker.ts';
import { loopbackSettings } from '../../../../support/loopback-settings.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../../../../support/temporal.ts';
import { createTestNamespace } from '../../../../support/temporal-namespace.ts';
import { type Receiver, startReceiver } from '../../../../support/tls-receiver.ts';
import { openWindow } from '../../chromium-fixture.ts';
import { type DeliveriesFixture, startDeliveriesFixture } from './deliveries-fixture.ts';

let temporal: TestNamespace;
let fixture: DeliveriesFixture;
let worker: PaymentsWorker;
let browser: Browser;
let receiver: Receiver;
/** How the merchant's server answers. */
let answer = { status: 204, body: '' };

beforeAll(async () => {
  temporal = await createTestNamespace();
  // The second attempt is for the developer to ask for.
  fixture = await startDeliveriesFixture({ ...loopbackSettings(), WEBHOOK_SCHEDULE_SANDBOX: '0s,1h' });
  fixture.harness.services.startWebhookLanes();
  worker = await startHarnessWorker(fixture.harness, temporal);
  browser = await sharedChromium();
  receiver = await startReceiver((_request, response) => {
    response.writeHead(answer.status).end(answer.body);
  });
}, TEMPORAL_START_MS);
afterAll(async () => {
  await worker?.close();
  await fixture?.close();
  await receiver?.[Symbol.asyncDispose]();
  await temporal?.[Symbol.asyncDispose]();
});

it('leads a developer, without reloads, from a failing delivery to a delivered one, and through a resend', async () => {
  const merchantId = randomUUID();
  const tenant = { merchantId, environment: Environment.TEST };
  const developer = await fixture.signIn({ [merchantId]: Role.DEVELOPER });
  const url = `https://localhost:${receiver.port}/hook`;
  const { id } = await fixture.webhooks.subscribe(tenant, undefined, url);
  const { context, page, foreign, violations } = await openWindow(browser, fixture.baseUrl, developer);
  await page.goto(`/sandbox/${merchantId}/deliveries`);
  const rows = page.locator('[data-live="deliveries"] tbody tr');
  await rows.filter({ hasText: 'HTTP 204' }).waitFor();

  answer = { status: 503, body: '<b>out of order</b>' };
  const event = await fixture.webhooks.publish(tenant);
  await rows.filter({ hasText: 'HTTP 503' }).getByRole('link', { name: 'payment.succeeded.v1' }).click();
  await page.getByText('<b>out of order</b>').waitFor();
  answer = { status: 200, body: 'mended' };
  await page.getByRole('button', { name: 'Retry now' }).click();
  await page.locator('[data-live="state"] .badge', { hasText: 'Delivered' }).waitFor();
  await page.getByText('mended', { exact: true }).waitFor();

  await page.goto(`/sandbox/${merchantId}/webhooks/${id}/deliveries`);
  await page.locator('summary', { hasText: 'Resend events' }).click();
  await page.locator('form').filter({ hasText: 'Published from' }).getByRole('button').click();
  await page.getByLabel('All, even those delivered or being delivered: 1 event').check();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Resend 1 event' }).click();
  await page.locator('[data-live="progress"] .badge', { hasText: 'Completed' }).waitFor();
  expect(await page.locator('progress').getAttribute('value')).toBe('1');
  expect(await page.getByRole('button', { name: 'Cancel resend' }).count()).toBe(0);
  await page.getByRole('link', { name: 'View deliveries of this resend' }).click();
  await rows.filter({ hasText: 'Delivered' }).waitFor();
  expect(await rows.count()).toBe(1);

  const sent = receiver.requests.map(({ headers }) => headers['webhook-id']);
  expect(sent.filter((webhookId) => webhookId === event.id)).toHaveLength(3);
  expect(foreign).toEqual([]);
  expect(violations).toEqual([]);
  await context.close();
});
