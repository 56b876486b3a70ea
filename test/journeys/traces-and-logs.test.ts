import { createHash } from 'node:crypto';
import { Code, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ProviderOutcome, RefundCaseService } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { ALL_SCOPES } from '../gateway/gateway-harness.ts';
import { call } from '../gateway/http-call.ts';
import { seedMerchant } from '../gateway/seed-merchant.ts';
import { newKey, newTenant, newWrite } from '../support/harness.ts';
import { type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { accepted, failing, startProvider, type TestProvider } from '../support/provider-server.ts';
import { TEMPORAL_START_MS } from '../support/temporal.ts';
import { startReceiver } from '../support/tls-receiver.ts';
import { type LogLine, type ObservedSystem, startObservedSystem } from './observed-system.ts';
import { SandboxMerchant } from './sandbox-merchant.ts';

const SOON = { timeout: 60_000, interval: 100 };
const REFUND_EVENT = 'refund.processing.v1';
const WARN = 40;

const stack = new AsyncDisposableStack();
let collector: Awaited<ReturnType<typeof startOtlpReceiver>>;
let provider: TestProvider;
let system: ObservedSystem;
beforeAll(async () => {
  collector = stack.use(await startOtlpReceiver('Bearer of-the-collector'));
  provider = stack.use(await startProvider());
  const settings = {
    ...provider.settings,
    WEBHOOK_SCHEDULE_SANDBOX: '0s,100ms',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
    OTEL_TRACES_SAMPLER_ARG: '1',
  };
  system = await startObservedSystem(settings, stack);
}, TEMPORAL_START_MS);
afterAll(() => stack.disposeAsync());

const traceIdOf = (requestId: string) => createHash('sha256').update(requestId).digest('hex').slice(0, 32);

test('one trace leads from a request over all processes to the attempts of its webhooks', async () => {
  const attempted = new Set<string>();
  await using receiver = await startReceiver((request, response) => {
    const id = String(request.headers['webhook-id']);
    response.writeHead(attempted.has(id) ? 204 : 503).end();
    attempted.add(id);
  });
  const tenant = newTenant(Environment.TEST);
  const issued = await createClient(ApiKeyService, system.transport).issueApiKey({
    ...newWrite(tenant),
    name: 'Shop',
    scopes: [...ALL_SCOPES],
  });
  /** The spans of a trace, once this many of each name have been received. */
  const traceWith = (requestId: string, wanted: Readonly<Record<string, number>>) =>
    vi.waitFor(() => {
      const spans = collector.trace(traceIdOf(requestId));
      const countOf = (name: string) => spans.filter((span) => span.name === name).length;
      expect(Object.keys(wanted).filter((name) => countOf(name) < wanted[name]!)).toEqual([]);
      return new Trace(spans);
    }, SOON);

  // A merchant's request, whose ping fails at first. The client's trace header is ignored.
  const created = await call(system.sandboxPort, '/v1/webhook-subscriptions', {
    key: issued.key,
    headers: { 'idempotency-key': newKey(), traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
    body: { url: `https://localhost:${receiver.port}/hidden-path`, eventTypes: [REFUND_EVENT] },
  });
  expect(created.status).toBe(201);
  const subscribing = await traceWith(String(created.headers['request-id']), {
    'POST /v1/webhook-subscriptions': 1,
    'outbox START retryDelivery': 1,
    'webhook attempt': 2,
    'payments.webhooks.v1.DispatchService/AwaitAttempt': 1,
    'activity attemptDelivery': 1,
  });
  const createSubscription = 'payments.webhooks.v1.WebhookSubscriptionService/CreateWebhookSubscription';
  expect(
    subscribing.path('postgresql transaction', ({ events }) => events.includes('event in the outbox')),
  ).toEqual([
    'payments-gateway POST /v1/webhook-subscriptions',
    `payments-services ${createSubscription}`,
    'payments-services postgresql transaction',
  ]);
  expect(subscribing.path('payments.webhooks.v1.DispatchService/RequestAttempt')).toEqual([
    'payments-gateway POST /v1/webhook-subscriptions',
    'payments-worker activity attemptDelivery',
    'payments-services payments.webhooks.v1.DispatchService/RequestAttempt',
  ]);
  expect(subscribing.attempts()).toEqual([
    { number: 1, status: 503, failed: true },
    { number: 2, status: 204, failed: false },
  ]);

  // A refund that a team requests: its saga, and the webhook that it sends.
  const seed = seedMerchant(system.transport, tenant.merchantId, tenant.environment);
  await seed.sale(10_000n, 0);
  const { id } = await seed.refundCase();
  provider.refund(id, accepted);
  const delivered = await vi.waitFor(() => {
    const bodies = receiver.requests.map(({ body }) => JSON.parse(String(body)));
    const events = bodies.filter(({ type, data }) => type === REFUND_EVENT && data.id === id);
    expect(events).toHaveLength(2);
    return events[0];
  }, SOON);
  const refund = await traceWith(delivered.requestId, { 'webhook attempt': 2, 'activity submitRefund': 1 });
  expect(refund.path('payments.funds.v1.FundsService/DebitForRefund')).toEqual([
    'payments-services payments.refunds.v1.RefundCaseService/OpenRefundCase',
    'payments-worker activity debitRefund',
    'payments-services payments.funds.v1.FundsService/DebitForRefund',
  ]);
  expect(refund.path('outbox START executeRefund')).toHaveLength(2);
  expect(refund.attempts()).toMatchObject([{ status: 503 }, { status: 204 }]);

  for (const secret of [issued.key, 'hidden-path', 'of-the-collector'])
    expect(collector.text()).not.toContain(secret);
});

test('the log shows the outcome of a delivery by its id, and of a refund by its case', async () => {
  await using receiver = await startReceiver((request, response) => {
    const attempts = receiver.requests.filter(
      ({ headers }) => headers['webhook-id'] === request.headers['webhook-id'],
    );
    const fails = request.url === '/fails' || (request.url === '/recovers' && attempts.length === 1);
    response.writeHead(fails && !isPing(attempts[0]!.body) ? 503 : 204).end();
  });
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
  const outcome = { ...newWrite(tenant), refundCaseId, outcome: ProviderOutcome.SUCCEEDED };
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

test('the log shows an advance by its id, from its request to its payout', async () => {
  const tenant = newTenant(Environment.TEST);
  await seedMerchant(system.transport, tenant.merchantId, tenant.environment).sale(14_400n, 3);
  const advances = createClient(AdvanceService, system.transport);
  const { quote } = await advances.quoteAdvance(newWrite(tenant));
  const requested = await advances.requestAdvance({ ...newWrite(tenant), quoteId: quote!.id });
  const { id: advanceRequestId } = requested.advanceRequest!;
  const payout = { case: 'accepted', value: { providerPayoutId: 'po_1' } } as const;
  provider.payout(advanceRequestId, failing(Code.Unavailable), () => ({ result: payout }));
  await advances.approveAdvance({ ...newWrite(tenant), advanceRequestId });
  await advances.releaseAdvance({ ...newWrite(tenant), advanceRequestId });
  const linesOfAdvance = () => system.lines().filter((line) => names(line, { advanceRequestId }));
  await vi.waitFor(
    () => expect(linesOfAdvance().at(-1)).toMatchObject({ payoutLastAnswer: 'ACCEPTED' }),
    SOON,
  );
  const changed = { msg: 'an advance request has changed', merchantId: tenant.merchantId };
  const ofPayout = { workflowId: `advance-payout-${advanceRequestId}` };
  const [failed, steps] = [true, false].map((isOfWorker) =>
    linesOfAdvance().filter(({ msg }) => (msg === 'Activity failed') === isOfWorker),
  );
  expect(failed).toMatchObject([{ level: WARN, ...ofPayout, activityType: 'submitPayout' }]);
  expect(steps).toMatchObject([
    { msg: 'an advance was requested', amountMinor: '14400', status: 'PENDING_REVIEW' },
    { ...changed, was: 'PENDING_REVIEW', status: 'APPROVED' },
    { ...changed, changed: ['releaseStartedAt'] },
    { ...changed, was: 'APPROVED', status: 'RELEASED' },
    { ...changed, ...ofPayout, payoutAttempts: 1, payoutLastAnswer: 'FAILED' },
    { ...changed, ...ofPayout, payoutAttempts: 2, payoutLastAnswer: 'ACCEPTED' },
  ]);
});

/** The spans of one trace. */
class Trace {
  readonly #spans: readonly ReceivedSpan[];

  constructor(spans: readonly ReceivedSpan[]) {
    this.#spans = spans;
    // All of them are below the one root.
    for (const span of spans) expect(this.#pathTo(span)[0]?.parentSpanId).toBe('');
    expect(spans.filter(({ parentSpanId }) => parentSpanId === '')).toHaveLength(1);
  }

  /** From the root to the first span of this name: `process name`. */
  path(name: string, matches: (span: ReceivedSpan) => boolean = () => true): string[] {
    const span = this.#spans.find((one) => one.name === name && matches(one));
    return span ? this.#pathTo(span).map(nameOf) : [];
  }

  attempts() {
    return this.#spans
      .filter(({ name }) => name === 'webhook attempt')
      .map(({ attributes, failed }) => ({
        number: attributes['payments.attempt'],
        status: attributes['http.response.status_code'],
        failed,
      }));
  }

  #pathTo(span: ReceivedSpan): ReceivedSpan[] {
    const parent = this.#spans.find(({ spanId }) => spanId === span.parentSpanId);
    return parent ? [...this.#pathTo(parent), span] : [span];
  }
}

const nameOf = ({ service, name }: ReceivedSpan) => `${service} ${name}`;

const isPing = (body: Buffer) => body.includes('"type":"webhook.ping.v1"');

const names = (line: LogLine, fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).every(([name, value]) => line[name] === value);
