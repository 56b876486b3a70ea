import { randomUUID } from 'node:crypto';
import type { DescMethodUnary, MessageInitShape } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { type ServiceError, status } from '@grpc/grpc-js';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AccountService, Role } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { ProductService, ProductType } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { FundsService, SaleMethod } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { RefundCaseService } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { WebhookSubscriptionService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { connectErrorOf, GrpcJsClient } from '../support/grpc-js-transport.ts';
import { newKey, newTenant, startHarness, type TestHarness } from '../support/harness.ts';

interface Write {
  /** Sends the write; `variant` changes its content but not its idempotency key. */
  send(variant: number, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<unknown>;
}

let harness: TestHarness;
let client: GrpcJsClient;
beforeAll(async () => {
  harness = await startHarness();
  client = new GrpcJsClient(harness.baseUrl, harness.token);
});
afterAll(async () => {
  client?.[Symbol.dispose]();
  await harness?.close();
});

/** A new write of this RPC for a new merchant. */
function writeOf<Method extends DescMethodUnary>(
  method: Method,
  contentOf: (variant: number) => MessageInitShape<Method['input']>,
): () => Write {
  return () => {
    const common = { ...newTenant(), idempotencyKey: newKey() };
    return {
      send: (variant, options) => client.call(method, { ...contentOf(variant), ...common }, options),
    };
  };
}

const id = randomUUID();
const SOLD_AT = timestampNow();

/** One write of each area. */
const WRITES: Readonly<Record<string, () => Write>> = {
  catalog: writeOf(ProductService.method.createProduct, (variant) => ({
    name: `Course ${variant}`,
    productType: ProductType.ONE_TIME,
    refundWindowDays: 7,
  })),
  refunds: writeOf(RefundCaseService.method.openDispute, (variant) => ({
    disputeId: id,
    paymentIntentId: `00000000-0000-4000-8000-00000000000${variant}`,
  })),
  funds: writeOf(FundsService.method.recordSale, (variant) => ({
    saleId: id,
    method: SaleMethod.INSTANT_TRANSFER,
    installments: 1,
    occurredAt: SOLD_AT,
    grossAmountMinor: 1_000n + BigInt(variant),
    feesAmountMinor: 10n,
  })),
  advances: writeOf(AdvanceService.method.setAdvanceRate, (variant) => ({ monthlyRateBps: 100 + variant })),
  webhooks: writeOf(WebhookSubscriptionService.method.createWebhookSubscription, (variant) => ({
    url: `https://93.184.215.14/hooks/${variant}`,
    eventTypes: ['payment.succeeded.v1'],
  })),
  'api-keys': writeOf(ApiKeyService.method.issueApiKey, (variant) => ({
    name: `key ${variant}`,
    scopes: [ApiKeyScope.FUNDS_READ],
  })),
  accounts: writeOf(AccountService.method.inviteMember, (variant) => ({
    email: `person-${variant}@merchant.example`,
    role: Role.VIEWER,
  })),
};

/** Blocks every write before it commits, until the test is over or `release` is called. */
async function blockWrites(): Promise<() => Promise<void>> {
  const database = new pg.Client({ connectionString: harness.databaseUrl });
  await database.connect();
  let isBlocked = true;
  const release = async () => {
    if (isBlocked) await database.end();
    isBlocked = false;
  };
  onTestFinished(release);
  await database.query('begin; lock table platform.idempotency_record in access exclusive mode');
  return release;
}

/** Sends a write again until the abandoned one has given up its idempotency key. */
const sentAgain = (write: Write) => vi.waitFor(async () => expect(await write.send(1)).toBeDefined(), 40_000);

describe.each(Object.entries(WRITES))('a grpc-js client calls %s', (_area, newWrite) => {
  it('and can write', async () => {
    const write = newWrite();
    const first = await write.send(1);
    expect(first).toBeDefined();
  });

  it('and reads the reason of an error from ErrorInfo', async () => {
    const write = newWrite();
    await write.send(1);
    const error = await write.send(2).catch((thrown: ServiceError) => thrown);
    expect(error).toMatchObject({ code: status.ALREADY_EXISTS });
    expect(errorInfoOf(connectErrorOf(error as ServiceError))).toMatchObject({
      reason: 'IDEMPOTENCY_KEY_REUSED',
      domain: 'payments',
    });
  });

  it('and gets its deadline enforced, and can repeat the write', async () => {
    const release = await blockWrites();
    const write = newWrite();
    await expect(write.send(1, { timeoutMs: 300 })).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
    await release();
    await sentAgain(write);
  });

  it('and can cancel and repeat the write', async () => {
    const release = await blockWrites();
    const write = newWrite();
    const canceled = write.send(1, { signal: AbortSignal.timeout(300) });
    await expect(canceled).rejects.toMatchObject({ code: status.CANCELLED });
    await release();
    await sentAgain(write);
  });
});
