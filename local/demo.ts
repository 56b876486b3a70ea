import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type Interceptor } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
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
import type { ReceivedDelivery } from './demo/demo-receiver.ts';

const DEADLINE_MS = 50_000;
const startedAt = Date.now();

interface DemoFile {
  readonly sandbox: { baseUrl: string; merchantId: string; apiKey: string };
  readonly grpc: { baseUrl: string; token: string };
  readonly temporal: { ui?: string; namespace: string };
  readonly receiver: { url: string; ca: string };
}

/** `npm run demo`: the main job told line by line, against a running `npm start`. */
async function main(): Promise<void> {
  const demo = await readDemoFile();
  const receiver = await openReceiver(demo);
  const api = clientsOf(demo);
  const tenant = { merchantId: demo.sandbox.merchantId, environment: Environment.TEST };
  const write = () => ({ ...tenant, idempotencyKey: randomUUID() });

  tell('1', `subscribe ${receiver.url} over the public API`);
  const subscription = await subscribe(demo, receiver.url);
  const { signingSecret } = await api.subscriptions.revealSigningSecret({
    ...write(),
    subscriptionId: subscription.id,
  });
  tell(
    '',
    `subscription ${subscription.id} is ${subscription.state}; its secret is shown once: ${signingSecret.slice(0, 12)}…`,
  );

  tell('2', 'open a refund case over gRPC, as an internal team does');
  const { refundCase } = await api.refunds.openRefundCase({
    ...write(),
    paymentIntentId: randomUUID(),
    amountMinor: 4_990n,
    paidAmountMinor: 4_990n,
    initiator: RefundInitiator.CUSTOMER,
    reason: 'Produto não chegou',
  });
  tell('', `case ${refundCase!.id}: R$ 49,90, waiting for the merchant's decision`);

  const requested = await receiver.await('refund.requested.v1', 204);
  verify(requested, signingSecret);
  tell(
    '3',
    `refund.requested.v1 arrived, signed, after ${Date.parse(requested.receivedAt) - openedAt(refundCase!.requestedAt)} ms; verified by standardwebhooks`,
  );

  tell('4', 'break the receiver: its next answer is a 500; then the merchant contests the case');
  await receiver.failNext();
  await api.refunds.decideRefundCase({
    ...write(),
    refundCaseId: refundCase!.id,
    decision: MerchantDecisionKind.CONTESTED,
  });
  const refused = await receiver.await('refund.merchant_decided.v1', 500);
  const { deliveries } = await api.deliveries.listDeliveries({ ...tenant, eventId: refused.webhookId! });
  const delivery = deliveries[0]!;
  tell('', `the first attempt failed; the delivery goes on as workflow delivery-${delivery.id}`);
  if (demo.temporal.ui)
    tell('', `${demo.temporal.ui}/namespaces/${demo.temporal.namespace}/workflows/delivery-${delivery.id}`);

  const retried = await receiver.await('refund.merchant_decided.v1', 204);
  verify(retried, signingSecret);
  tell('5', `the retry arrived with the same webhook-id ${retried.webhookId} and verifies`);
  await tellAttempts(api, tenant, delivery.id);
  await disable(demo, subscription.id);
  tell('6', `subscription disabled; done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
}

function tell(step: string, line: string): void {
  console.log(`${step.padStart(2)}  ${line}`);
}

async function readDemoFile(): Promise<DemoFile> {
  const { DATA_DIR } = readConfig(process.env, { unused: KEY_RINGS });
  const path = join(DATA_DIR, 'demo.json');
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(`${path} cannot be read: run npm start in another terminal first`);
  });
  return JSON.parse(text);
}

function clientsOf({ grpc }: DemoFile) {
  const bearer: Interceptor = (next) => (call) => {
    call.header.set('authorization', `Bearer ${grpc.token}`);
    return next(call);
  };
  const transport = createGrpcTransport({ baseUrl: grpc.baseUrl, interceptors: [bearer] });
  return {
    refunds: createClient(RefundCaseService, transport),
    subscriptions: createClient(WebhookSubscriptionService, transport),
    deliveries: createClient(DeliveryService, transport),
  };
}

async function subscribe({ sandbox }: DemoFile, url: string): Promise<{ id: string; state: string }> {
  const answer = await request(`${sandbox.baseUrl}/v1/webhook-subscriptions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${sandbox.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ url, eventTypes: ['refund.requested.v1', 'refund.merchant_decided.v1'] }),
  });
  const body = (await answer.body.json()) as { id: string; state: string; detail?: string };
  if (answer.statusCode !== 201) throw new Error(`the subscription was refused: ${body.detail}`);
  return body;
}

async function disable({ sandbox }: DemoFile, id: string): Promise<void> {
  const url = `${sandbox.baseUrl}/v1/webhook-subscriptions/${id}/disable`;
  const answer = await request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.apiKey}` },
  });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`the subscription was not disabled: ${answer.statusCode}`);
}

/** The demo receiver of `npm start`, on a path of this run's own. */
async function openReceiver({ receiver }: DemoFile) {
  const ca = await readFile(receiver.ca, 'utf8');
  const dispatcher = new Agent({ connect: { ca } });
  const url = new URL(`${receiver.url}-${randomUUID().slice(0, 8)}`);
  const query = `path=${url.pathname}`;
  const deliveries = async () => {
    const { body } = await request(`${url.origin}/deliveries?${query}`, { dispatcher });
    return ((await body.json()) as { deliveries: ReceivedDelivery[] }).deliveries;
  };
  return {
    url: url.href,
    async failNext() {
      const { body } = await request(`${url.origin}/fail?count=1&status=500&${query}`, {
        method: 'POST',
        dispatcher,
      });
      await body.dump();
    },
    /** The first delivery of a type that was answered so; waits for it. */
    async await(type: string, answered: number): Promise<ReceivedDelivery> {
      while (Date.now() - startedAt < DEADLINE_MS) {
        const found = (await deliveries()).findLast(
          (got) => got.answered === answered && typeOf(got) === type,
        );
        if (found) return found;
        await delay(50);
      }
      throw new Error(
        `${type} did not arrive in ${DEADLINE_MS / 1000} s: is Temporal up? see /readyz and npm start's lines`,
      );
    },
  };
}

const typeOf = ({ body }: ReceivedDelivery) => (JSON.parse(body) as { type: string }).type;

/** Throws when the signature is not by the secret. */
function verify({ body, headers }: ReceivedDelivery, secret: string): void {
  new Webhook(secret).verify(body, { ...headers });
}

const openedAt = (timestamp: { seconds: bigint; nanos: number } | undefined) =>
  Number(timestamp?.seconds ?? 0n) * 1000 + (timestamp?.nanos ?? 0) / 1e6;

async function tellAttempts(
  { deliveries }: ReturnType<typeof clientsOf>,
  tenant: { merchantId: string; environment: Environment },
  deliveryId: string,
): Promise<void> {
  const { attempts } = await deliveries.getDelivery({ ...tenant, deliveryId });
  for (const { number, httpStatus, latencyMs } of attempts) {
    tell('', `attempt ${number}: ${httpStatus ?? 'no answer'} in ${latencyMs ?? '?'} ms`);
  }
}

function failureOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: Error };
  const away = [message, cause?.message].some((text) => text?.includes('ECONNREFUSED'));
  return away ? `${message}: run npm start in another terminal first` : message;
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(failureOf(error));
  process.exit(1);
}
