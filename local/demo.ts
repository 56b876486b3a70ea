import { randomUUID } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { createClient, type Interceptor } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { Webhook } from 'standardwebhooks';
import { request } from 'undici';
import { Environment } from '../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  MerchantDecisionKind,
  RefundCaseService,
  RefundInitiator,
} from '../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryService,
  WebhookSubscriptionService,
} from '../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { KEY_RINGS, readConfig } from '../services/platform/process/config.ts';
import { bearer } from '../services/platform/rpc/remote-transport.ts';
import { callService, ServiceStoppedError } from './demo/call-service.ts';
import { DemoConsole } from './demo/demo-console.ts';
import type { DemoFile } from './demo/demo-file.ts';
import type { ReceivedDelivery } from './demo/demo-receiver.ts';
import { DemoReceiverClient } from './demo/demo-receiver-client.ts';
import { waitForSystem } from './demo/wait-for-system.ts';

/** `npm run demo`: one refund case and its webhooks, step by step, against a running `npm start`. */
async function main(output: DemoConsole): Promise<void> {
  const demo = await waitForSystem({
    dataDir: readConfig(process.env, { unused: KEY_RINGS }).DATA_DIR,
    print: (line) => output.detail(line),
    printProgress: (line) => output.progress(line),
  });
  const startedAt = Date.now();
  const receiver = await DemoReceiverClient.open(demo);
  const api = internalApi(demo);
  const tenant = { merchantId: demo.sandbox.merchantId, environment: Environment.TEST };
  const write = () => ({ ...tenant, idempotencyKey: randomUUID() });

  output.step(1, `subscribe ${receiver.url} over the public API`);
  const { id: subscriptionId, state } = await subscribe(demo, receiver.url);
  const { signingSecret } = await api.subscriptions.revealSigningSecret({ ...write(), subscriptionId });
  output.detail(
    `subscription ${subscriptionId} is ${state}; its secret, shown once: ${signingSecret.slice(0, 12)}…`,
  );

  output.step(2, 'open a refund case over gRPC, as an internal team does');
  const { refundCase } = await api.refunds.openRefundCase({
    ...write(),
    paymentIntentId: randomUUID(),
    amountMinor: 4_990n,
    paidAmountMinor: 4_990n,
    initiator: RefundInitiator.CUSTOMER,
    reason: 'Produto não chegou',
  });
  const { id: refundCaseId, requestedAt } = refundCase!;
  output.detail(`case ${refundCaseId} for R$ 49.90 awaits the merchant's decision`);

  const requested = await receiver.waitForDelivery('refund.requested.v1', 204);
  verifySignature(requested, signingSecret);
  const latencyMs = Date.parse(requested.receivedAt) - timestampMs(requestedAt!);
  output.step(3, `refund.requested.v1 arrived after ${latencyMs} ms; standardwebhooks accepts its signature`);

  output.step(4, 'make the receiver return 500 once, then contest the case as the merchant');
  await receiver.failNext();
  await api.refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.CONTESTED });
  const refused = await receiver.waitForDelivery('refund.merchant_decided.v1', 500);
  const { deliveries } = await api.deliveries.listDeliveries({ ...tenant, eventId: refused.webhookId! });
  const deliveryId = deliveries[0]!.id;
  output.detail(`the first attempt failed; workflow delivery-${deliveryId} retries it`);
  const { ui, namespace } = demo.temporal;
  if (ui) output.detail(`${ui}/namespaces/${namespace}/workflows/delivery-${deliveryId}`);

  const retried = await receiver.waitForDelivery('refund.merchant_decided.v1', 204);
  verifySignature(retried, signingSecret);
  output.step(5, `the retry arrived with the same webhook-id ${retried.webhookId} and a valid signature`);
  const { attempts } = await api.deliveries.getDelivery({ ...tenant, deliveryId });
  for (const { number, httpStatus, latencyMs } of attempts) {
    output.detail(`attempt ${number}: ${httpStatus ?? 'no response'} in ${latencyMs ?? '?'} ms`);
  }
  await disable(demo, subscriptionId);
  output.step(6, `subscription disabled; done in ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`);
}

function internalApi({ grpc }: DemoFile) {
  const { baseUrl, token } = grpc;
  const explained: Interceptor = (next) => (call) => callService(baseUrl, () => next(call));
  const transport = createGrpcTransport({ baseUrl, interceptors: [explained, bearer(token)] });
  return {
    refunds: createClient(RefundCaseService, transport),
    subscriptions: createClient(WebhookSubscriptionService, transport),
    deliveries: createClient(DeliveryService, transport),
  };
}

async function subscribe({ sandbox }: DemoFile, url: string): Promise<{ id: string; state: string }> {
  const subscription = { url, eventTypes: ['refund.requested.v1', 'refund.merchant_decided.v1'] };
  const response = await post(sandbox, '/v1/webhook-subscriptions', {
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify(subscription),
  });
  const body = (await response.body.json()) as { id: string; state: string; detail?: string };
  if (response.statusCode !== 201) throw new Error(`creating the subscription failed: ${body.detail}`);
  return body;
}

async function disable({ sandbox }: DemoFile, id: string): Promise<void> {
  const response = await post(sandbox, `/v1/webhook-subscriptions/${id}/disable`);
  await response.body.dump();
  if (response.statusCode !== 200)
    throw new Error(`disabling the subscription failed: ${response.statusCode}`);
}

interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | null;
}

/** POSTs to the public API of the sandbox. */
function post(
  { baseUrl, apiKey }: DemoFile['sandbox'],
  path: string,
  { headers = {}, body = null }: PostOptions = {},
) {
  const authorization = `Bearer ${apiKey}`;
  return callService(baseUrl, () =>
    request(`${baseUrl}${path}`, { method: 'POST', headers: { ...headers, authorization }, body }),
  );
}

/** One line. Connect wraps what its interceptors throw. */
function messageOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof ServiceStoppedError ? cause.message : message;
}

/** Throws unless the secret signed the delivery. */
function verifySignature({ body, headers }: ReceivedDelivery, secret: string): void {
  new Webhook(secret).verify(body, { ...headers });
}

const output = new DemoConsole(process.stdout);
try {
  await main(output);
  process.exit(0);
} catch (error) {
  output.end();
  console.error(messageOf(error));
  process.exit(1);
}
