import { createClient } from '@connectrpc/connect';
import { expect, test, vi } from 'vitest';
import { ProviderOutcome, RefundCaseService } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { seedMerchant } from '../gateway/seed-merchant.ts';
import { newKey } from '../support/harness.ts';
import { accepted, startProvider } from '../support/provider-server.ts';
import { startReceiver } from '../support/tls-receiver.ts';
import { type LogLine, startObservedSystem } from './observed-system.ts';
import { SandboxMerchant } from './sandbox-merchant.ts';

const WARN = 40;
const SOON = { timeout: 40_000, interval: 50 };

test('the log shows the outcome of a delivery by its id, and of a refund by its case', async () => {
  await using provider = await startProvider();
  await using receiver = await startReceiver((request, response) => {
    const attempts = receiver.requests.filter(
      ({ headers }) => headers['webhook-id'] === request.headers['webhook-id'],
    );
    const fails = request.url === '/fails' || (request.url === '/recovers' && attempts.length === 1);
    response.writeHead(fails && !isPing(attempts[0]!.body) ? 503 : 204).end();
  });
  const system = await startObservedSystem({ ...provider.settings, WEBHOOK_SCHEDULE_SANDBOX: '0s,100ms' });
  const linesAbout = (named: Readonly<Record<string, string>>) =>
    system.lines().filter((line) => names(line, named));

  // Deliveries: one that succeeds at once, one that recovers, and one that does not.
  const paths = ['/succeeds', '/recovers', '/fails'];
  const merchants = await Promise.all(
    paths.map((path) => SandboxMerchant.subscribe(system.transport, receiver, path)),
  );
  await Promise.all(merchants.map((merchant) => merchant.becomes(WebhookSubscriptionState.ACTIVE)));
  const [atOnce, recovering, failing] = await Promise.all(
    merchants.map(async (merchant, index) => {
      const eventId = await merchant.publish();
      const status = index === 2 ? DeliveryStatus.EXHAUSTED : DeliveryStatus.SUCCEEDED;
      const { delivery } = await merchant.delivery(eventId, status);
      const { id: deliveryId } = delivery!;
      const { body } = receiver.requests.find(({ headers }) => headers['webhook-id'] === eventId)!;
      const { requestId } = JSON.parse(String(body));
      return {
        deliveryId,
        facts: { requestId, eventId, merchantId: merchant.tenant.merchantId, environment: 'test' },
      };
    }),
  );

  // A refund, from its request to the outcome that its provider reports.
  const { tenant } = merchants[0]!;
  const seed = seedMerchant(system.transport, tenant.merchantId, tenant.environment);
  await seed.sale(10_000n, 0);
  const { id: refundCaseId } = await seed.refundCase();
  provider.refund(refundCaseId, accepted);
  const refunds = createClient(RefundCaseService, system.transport);
  await vi.waitFor(async () => {
    const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId });
    expect(refundCase!.provider).toMatchObject({ submissionStatus: 'queued' });
  }, SOON);
  const outcome = { ...tenant, refundCaseId, outcome: ProviderOutcome.SUCCEEDED, idempotencyKey: newKey() };
  await refunds.recordProviderOutcome(outcome, { headers: { 'request-id': 'provider-report' } });
  await vi.waitFor(() => expect(linesAbout({ refundCaseId }).at(-1)?.status).toBe('SUCCEEDED'), SOON);

  expect(linesAbout({ deliveryId: atOnce!.deliveryId })).toEqual([]);
  expect(linesAbout({ deliveryId: recovering!.deliveryId })).toMatchObject([
    { ...recovering!.facts, msg: 'an attempt of a delivery failed', attempt: 1, cause: 'HTTP 503' },
    { ...recovering!.facts, msg: 'a delivery succeeded', attempt: 2, status: 'SUCCEEDED' },
  ]);
  // All lines of all processes that name the delivery.
  const trouble = system
    .lines()
    .filter((line) => line.level >= WARN && JSON.stringify(line).includes(failing!.deliveryId));
  const exhausted = { msg: 'a delivery is exhausted', attempt: 2, cause: 'HTTP 503', status: 'EXHAUSTED' };
  expect(trouble).toMatchObject([{ ...failing!.facts, deliveryId: failing!.deliveryId, ...exhausted }]);

  const [{ requestId }] = linesAbout({ refundCaseId }) as [LogLine];
  const byWorkflow = { requestId, workflowId: `refund-${refundCaseId}`, merchantId: tenant.merchantId };
  const changed = { msg: 'a refund case has changed' };
  expect(linesAbout({ refundCaseId })).toMatchObject([
    { msg: 'a refund case was opened', status: 'APPROVED_FOR_EXECUTION', amountMinor: '100' },
    { ...byWorkflow, ...changed, was: 'APPROVED_FOR_EXECUTION', executions: 1 },
    { ...byWorkflow, msg: 'a refund was debited', amountMinor: '100' },
    { ...byWorkflow, ...changed, status: 'PROCESSING', events: ['refund.processing.v1'] },
    { ...byWorkflow, ...changed, changed: expect.arrayContaining(['providerRefundId']) },
    { ...changed, requestId: 'provider-report', was: 'PROCESSING', status: 'SUCCEEDED' },
  ]);
});

const isPing = (body: Buffer) => body.includes('"type":"webhook.ping.v1"');

const names = (line: LogLine, fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).every(([name, value]) => line[name] === value);
