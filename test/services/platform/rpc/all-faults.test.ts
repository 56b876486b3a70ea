import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, expect, it } from 'vitest';
import { ApiKeyService } from '../../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { ProductService } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { FundsService } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseService } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryService,
  EventService,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { fieldViolationsOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { newTenant, newWrite, startHarness } from '../../../support/harness.ts';

const harness = await startHarness();
afterAll(() => harness.close());

const write = () => newWrite(newTenant());
const merchantWithoutEnvironment = () => ({
  merchantId: newTenant().merchantId,
  environment: Environment.UNSPECIFIED,
});
const clientOf = <S extends Parameters<typeof createClient>[0]>(service: S) =>
  createClient(service, harness.transports.inProcess);
const future = (): Timestamp => timestampFromMs(Date.now() + 3_600_000);

async function refused(call: Promise<unknown>): Promise<string[]> {
  const error = ConnectError.from(
    await call.then(
      () => 'no refusal',
      (thrown: unknown) => thrown,
    ),
  );
  expect([error.code, error.message]).toEqual([Code.InvalidArgument, expect.any(String)]);
  return fieldViolationsOf(error).map(({ field, reason }) => `${field} ${reason}`);
}

it('CreateWebhookSubscription and UpdateWebhookSubscription name every event type and the URL', async () => {
  const faulty = { eventTypes: ['a.b.v1', 'payment.succeeded.v1', 'c.d.v1'], url: 'http://localhost/' };
  const named = [
    'event_types[0] INVALID_EVENT_TYPE',
    'event_types[2] INVALID_EVENT_TYPE',
    'url INVALID_WEBHOOK_URL',
  ];
  const subscriptions = clientOf(WebhookSubscriptionService);
  expect(await refused(subscriptions.createWebhookSubscription({ ...write(), ...faulty }))).toEqual(named);
  const update = { ...write(), subscriptionId: newTenant().merchantId, ...faulty };
  expect(await refused(subscriptions.updateWebhookSubscription(update))).toEqual(named);
});

it('PublishEvents names every event and every fault of its data, and the first 16 of more', async () => {
  const unknown = { type: 'a.b.v1', objectId: 'a', data: {} };
  const empty = { type: 'payment.succeeded.v1', objectId: 'a', data: { amount: 'all', other: 1 } };
  const events = clientOf(EventService);
  const named = await refused(events.publishEvents({ ...write(), events: [unknown, empty] }));
  expect(named[0]).toBe('events[0].type INVALID_EVENT_TYPE');
  expect(named.slice(1).length).toBeGreaterThan(2);
  expect(new Set(named.slice(1))).toEqual(new Set(['events[1].data INVALID_EVENT_DATA']));
  const many = Array.from({ length: 20 }, () => unknown);
  expect(await refused(events.publishEvents({ ...write(), events: many }))).toHaveLength(16);
});

it('ListEventFeed names event types, the environment and the cursor', async () => {
  const read = {
    ...merchantWithoutEnvironment(),
    eventTypes: ['a.b.v1', 'c.d.v1'],
    start: { case: 'cursor' as const, value: 'mine' },
  };
  expect(await refused(clientOf(EventService).listEventFeed(read))).toEqual([
    'event_types[0] INVALID_EVENT_TYPE',
    'event_types[1] INVALID_EVENT_TYPE',
    'environment INVALID_ARGUMENT',
    'cursor INVALID_EVENT_CURSOR',
  ]);
});

it('ResendDeliveries names a missing subscription and a period that ends before it begins', async () => {
  const [from, to] = [timestampFromMs(2_000), timestampFromMs(1_000)];
  const resend = { ...write(), selection: { case: 'period', value: { from, to } } } as const;
  expect(await refused(clientOf(DeliveryService).resendDeliveries(resend))).toEqual([
    'period RESEND_SELECTION',
    'period RESEND_SELECTION',
  ]);
});

it('UpdateProduct names every fault of its mask and a time in the future', async () => {
  const update = {
    ...write(),
    productId: newTenant().merchantId,
    updateMask: { paths: ['name', 'status'] },
    description: 'not in the mask',
    imageUrl: 'https://images.example/a.png',
    occurredAt: future(),
  };
  expect(await refused(clientOf(ProductService).updateProduct(update))).toEqual([
    'occurred_at OCCURRED_AT_IN_FUTURE',
    'name UPDATE_MASK',
    'update_mask UPDATE_MASK',
    'description UPDATE_MASK',
    'image_url UPDATE_MASK',
  ]);
});

it('VerifyFunds, ReleaseDueFunds and ListAdvanceableInstallments name dates beside their merchant', async () => {
  const funds = clientOf(FundsService);
  const after = { ...newTenant(), id: newTenant().merchantId };
  const merchant = merchantWithoutEnvironment();
  expect(await refused(funds.verifyFunds({ ...merchant, after }))).toEqual([
    'environment INVALID_ARGUMENT',
    'after INVALID_ARGUMENT',
  ]);
  expect(await refused(funds.releaseDueFunds({ ...merchant, asOf: '9998-01-01' }))).toEqual([
    'as_of INVALID_ARGUMENT',
    'environment INVALID_ARGUMENT',
  ]);
  const installments = { ...newTenant(), toDate: '2026-02-30', occurredAt: future() };
  expect(await refused(funds.listAdvanceableInstallments(installments))).toEqual([
    'occurred_at OCCURRED_AT_IN_FUTURE',
    'to_date INVALID_ARGUMENT',
  ]);
});

it('AddEvidence names every field of its first message, of a later one, and of the file', async () => {
  type Message = MessageInitShape<typeof RefundCaseService.method.addEvidence.input>;
  const upload = (...messages: Message[]) =>
    refused(
      clientOf(RefundCaseService).addEvidence(
        (async function* () {
          yield* messages;
        })(),
      ),
    );
  expect(await upload({ chunk: new Uint8Array(1) })).toEqual([
    'merchant_id INVALID_ARGUMENT',
    'environment INVALID_ARGUMENT',
    'idempotency_key INVALID_ARGUMENT',
    'file_name INVALID_ARGUMENT',
  ]);
  const first = { ...write(), fileName: 'a.pdf', chunk: Buffer.from('plain'), occurredAt: future() };
  expect(await upload(first, { fileName: 'b.pdf', refundCaseId: newTenant().merchantId })).toEqual([
    'refund_case_id INVALID_ARGUMENT',
    'file_name INVALID_ARGUMENT',
    'chunk INVALID_ARGUMENT',
  ]);
  expect(await upload(first)).toEqual([
    'refund_case_id INVALID_ARGUMENT',
    'occurred_at OCCURRED_AT_IN_FUTURE',
    ' EVIDENCE_TYPE_NOT_SUPPORTED',
  ]);
});

it('names the values that a field of an enum may have', async () => {
  const request = { ...write(), ...merchantWithoutEnvironment(), name: 'a', scopes: [0, 9] };
  const error: unknown = await clientOf(ApiKeyService)
    .issueApiKey(request)
    .catch((thrown: unknown) => thrown);
  const scopes = ['REFUNDS_READ', 'CATALOG_READ', 'FUNDS_READ', 'ADVANCES_READ', 'WEBHOOKS_MANAGE'];
  const scope = `must be one of ${scopes.map((name) => `API_KEY_SCOPE_${name}`).join(', ')}`;
  expect(
    fieldViolationsOf(error as ConnectError).map(({ field, description }) => [field, description]),
  ).toEqual([
    ['environment', 'must be one of ENVIRONMENT_LIVE, ENVIRONMENT_TEST'],
    ['scopes[0]', scope],
    ['scopes[1]', scope],
  ]);
});
