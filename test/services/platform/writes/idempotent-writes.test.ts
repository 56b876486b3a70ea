import { randomUUID } from 'node:crypto';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { ProductService, ProductType } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { RefundCaseService, RefundInitiator } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { REPLAYED_HEADER } from '../../../../services/platform/rpc/call-context.ts';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { minutesAgo } from '../../../support/ago.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, newWrite, startHarness } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';

const MANY = 50;

const harness = await startHarness({ SERVICES: 'refunds,catalog' });
afterAll(() => harness.close());

describe.each(['inProcess', 'grpc', 'connect'] as const)('a write over %s', (way) => {
  const transport = () => harness.transports[way];
  const refunds = () => createClient(RefundCaseService, transport());
  const opening = () => ({
    ...newWrite(newTenant()),
    paymentIntentId: randomUUID(),
    amountMinor: 100n,
    initiator: RefundInitiator.CUSTOMER,
    reason: 'broken',
    paidAmountMinor: 100n,
    paidAt: minutesAgo(1),
    evidenceCount: 0,
    window: { case: 'refundWindowDays', value: 30 } as const,
  });
  const open = async (request: ReturnType<typeof opening>) => {
    let replayed: string | null = null;
    const onHeader = (headers: Headers) => {
      replayed = headers.get(REPLAYED_HEADER);
    };
    const { refundCase } = await refunds().openRefundCase(request, { onHeader });
    return { refundCase: refundCase!, replayed: replayed as string | null };
  };

  it('happens once among 50 concurrent calls; the others are replays or conflicts', async () => {
    const request = opening();
    const results = await Promise.allSettled(Array.from({ length: MANY }, () => open(request)));
    const made = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(made.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    for (const { refundCase } of made) expect(refundCase).toEqual(made[0]!.refundCase);
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      expect((result.reason as ConnectError).code).toBe(Code.Aborted);
      expect(errorInfoOf(result.reason)?.reason).toBe('IDEMPOTENCY_KEY_IN_USE');
    }
    for (const table of ['refunds.refund_case', 'webhooks.event', 'platform.idempotency_record']) {
      const counted = `select 1 from ${table} where merchant_id = $1`;
      expect(await sqlOf(harness, counted, [request.merchantId]), table).toHaveLength(1);
    }
    expect(await open(request)).toEqual({ refundCase: made[0]!.refundCase, replayed: 'true' });
  });

  it('is refused with another request under the same key', async () => {
    const request = opening();
    await open(request);
    for (const change of [{ amountMinor: 99n }, { reason: 'late' }, { evidenceCount: 1 }]) {
      await expectRefusal(open({ ...request, ...change }), Code.AlreadyExists, 'IDEMPOTENCY_KEY_REUSED');
    }
  });

  it('can be corrected under the same key after an error', async () => {
    const request = opening();
    const refused = open({ ...request, amountMinor: 101n });
    await expect(refused).rejects.toBeInstanceOf(ConnectError);
    expect((await open(request)).replayed).toBeNull();
  });

  it('has separate keys for each RPC', async () => {
    const request = opening();
    await open(request);
    const { product } = await createClient(ProductService, transport()).createProduct({
      merchantId: request.merchantId,
      environment: request.environment,
      idempotencyKey: request.idempotencyKey,
      name: 'Course',
      productType: ProductType.ONE_TIME,
      refundWindowDays: 7,
    });
    expect(product!.name).toBe('Course');
  });
});

it('a write in JSON is the same request with numbers written and members ordered differently', async () => {
  const { baseUrl, token } = harness;
  const post = async (body: string) => {
    const answer = await fetch(`${baseUrl}/payments.refunds.v1.RefundCaseService/OpenRefundCase`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body,
    });
    return {
      replayed: answer.headers.get(REPLAYED_HEADER),
      status: answer.status,
      text: await answer.text(),
    };
  };
  const { merchantId } = newTenant();
  const paidAt = new Date(Date.now() - 60_000).toISOString();
  const rest = `"merchantId":"${merchantId}","idempotencyKey":"k","reason":"broken","paymentIntentId":"${randomUUID()}",
    "initiator":"REFUND_INITIATOR_CUSTOMER","paidAt":"${paidAt}","refundWindowDays":30,"paidAmountMinor":"1000"`;
  const first = await post(`{${rest},"environment":"ENVIRONMENT_LIVE","amountMinor":"1000"}`);
  expect([first.status, first.replayed]).toEqual([200, null]);
  for (const spelling of [
    `{${rest},"environment":1,"amountMinor":1000}`,
    `{"amount_minor":1e3,"evidence_count":0,${rest},"environment":"ENVIRONMENT_LIVE"}`,
    `{${rest.replace('broken', 'br\\u006fken')},"environment":1.0,"amountMinor":1000.0,"evidenceCount":null}`,
  ]) {
    expect(await post(spelling)).toEqual({ ...first, replayed: 'true' });
  }
});
