import { type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ProductService, ProductType } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { connectErrorOf, GrpcJsClient } from '../support/grpc-js-transport.ts';
import { newKey, newTenant, startHarness } from '../support/harness.ts';
import { openSession } from '../support/sql.ts';

interface Write {
  /** Sends the write; `variant` changes its content but not its idempotency key. */
  send(variant: number, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<unknown>;
}

const harness = await startHarness({ SERVICES: 'catalog' });
const client = new GrpcJsClient(harness.baseUrl, harness.token);
afterAll(async () => {
  client[Symbol.dispose]();
  await harness.close();
});

/** A new write for a new merchant: the RPCs share one port, and rpc-transports.test.ts calls each with this client. */
function newWrite(): Write {
  const common = { ...newTenant(), idempotencyKey: newKey() };
  const kind = { productType: ProductType.ONE_TIME, refundWindowDays: 7 };
  return {
    send: (variant, options) =>
      client.call(
        ProductService.method.createProduct,
        { ...common, ...kind, name: `Course ${variant}` },
        options,
      ),
  };
}

/** Blocks every write before it commits, until the test is over or `release` is called. */
async function blockWrites(): Promise<() => Promise<void>> {
  const database = await openSession(harness.databaseUrl);
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

describe('a grpc-js client', () => {
  it('reads the reason of an error from ErrorInfo', async () => {
    const write = newWrite();
    await write.send(1);
    const error = await write.send(2).catch((thrown: ServiceError) => thrown);
    expect(error).toMatchObject({ code: status.ALREADY_EXISTS });
    expect(errorInfoOf(connectErrorOf(error as ServiceError))).toMatchObject({
      reason: 'IDEMPOTENCY_KEY_REUSED',
      domain: 'payments',
    });
  });

  it('reads the message of an error as it was written', async () => {
    const unnamed = { ...newTenant(), idempotencyKey: newKey(), name: '', refundWindowDays: 7 };
    await expect(client.call(ProductService.method.createProduct, unnamed)).rejects.toMatchObject({
      details:
        'name: must be at least 1 characters; product_type: must be one of PRODUCT_TYPE_ONE_TIME, PRODUCT_TYPE_SUBSCRIPTION',
    });
  });

  it('gets its deadline enforced, and can repeat the write', async () => {
    const release = await blockWrites();
    const write = newWrite();
    await expect(write.send(1, { timeoutMs: 300 })).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
    await release();
    await sentAgain(write);
  });

  it('can cancel and repeat the write', async () => {
    const release = await blockWrites();
    const write = newWrite();
    const canceled = write.send(1, { signal: AbortSignal.timeout(300) });
    await expect(canceled).rejects.toMatchObject({ code: status.CANCELLED });
    await release();
    await sentAgain(write);
  });
});
