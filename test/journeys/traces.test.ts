import { createHash } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { expect, test, vi } from 'vitest';
import { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ALL_SCOPES } from '../gateway/gateway-harness.ts';
import { call } from '../gateway/http-call.ts';
import { seedMerchant } from '../gateway/seed-merchant.ts';
import { newKey, newTenant } from '../support/harness.ts';
import { type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { accepted, startProvider } from '../support/provider-server.ts';
import { startReceiver } from '../support/tls-receiver.ts';
import { startObservedSystem } from './observed-system.ts';

const SOON = { timeout: 60_000, interval: 100 };
const REFUND_EVENT = 'refund.processing.v1';

const traceIdOf = (requestId: string) => createHash('sha256').update(requestId).digest('hex').slice(0, 32);

test('one trace leads from a request over all processes to the attempts of its webhooks', async () => {
  await using collector = await startOtlpReceiver('Bearer of-the-collector');
  await using provider = await startProvider();
  const attempted = new Set<string>();
  await using receiver = await startReceiver((request, response) => {
    const id = String(request.headers['webhook-id']);
    response.writeHead(attempted.has(id) ? 204 : 503).end();
    attempted.add(id);
  });
  const system = await startObservedSystem({
    ...provider.settings,
    WEBHOOK_SCHEDULE_SANDBOX: '0s,100ms,1s,1s',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
    OTEL_TRACES_SAMPLER_ARG: '1',
  });
  const tenant = newTenant(Environment.TEST);
  const issued = await createClient(ApiKeyService, system.transport).issueApiKey({
    ...tenant,
    idempotencyKey: newKey(),
    name: 'Shop',
    scopes: [...ALL_SCOPES],
  });
  /** The spans of a trace, once so many of each name have been received. */
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
