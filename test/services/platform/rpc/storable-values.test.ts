import { randomUUID } from 'node:crypto';
import { create, type JsonObject } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { ProductService, ProductType } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import {
  EventService,
  PublishEventRequestSchema,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { unstorableValues } from '../../../../services/platform/rpc/storable-values.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, newWrite, startHarness } from '../../../support/harness.ts';

const harness = await startHarness({ SERVICES: 'catalog,webhooks' });
afterAll(() => harness.close());

const time = (seconds: bigint, nanos = 0): Timestamp => ({
  $typeName: 'google.protobuf.Timestamp',
  seconds,
  nanos,
});
const SECONDS_OF_9999 = 253_402_300_799n;

describe.each(['inProcess', 'grpc'] as const)('values that cannot be stored, over %s', (way) => {
  const product = (overrides: object) => {
    const client = createClient(ProductService, harness.transports[way]);
    const kind = { productType: ProductType.ONE_TIME, refundWindowDays: 7 };
    return client.createProduct({ ...newWrite(newTenant()), name: 'A', ...kind, ...overrides });
  };
  const invalid = (call: Promise<unknown>, field: string) =>
    expectRefusal(call, Code.InvalidArgument, 'INVALID_ARGUMENT', { field });

  it.each(['name', 'description', 'idempotencyKey'])('rejects NUL in %s', (name) =>
    invalid(product({ [name]: 'a\0b' }), name.replace('K', '_k')),
  );

  it.each([
    ['before 1900', time(-2_208_988_801n)],
    ['after the year 9999', time(SECONDS_OF_9999 + 1n)],
    ['that rounds up past the year 9999', time(SECONDS_OF_9999, 999_999_999)],
    ['beyond all calendars', time(9_223_372_036_854_775_807n)],
    ['with negative nanoseconds', time(0n, -1)],
    ['with a second of nanoseconds', time(0n, 1_000_000_000)],
  ])('rejects a time %s', (_, occurredAt) => invalid(product({ occurredAt }), 'occurred_at'));

  it('accepts times at the bounds and any other text as a key', async () => {
    await product({ occurredAt: time(-2_208_988_800n), idempotencyKey: "'\n|%😀" });
    const later = product({ occurredAt: time(SECONDS_OF_9999 - 1n) });
    await expectRefusal(later, Code.InvalidArgument, 'OCCURRED_AT_IN_FUTURE');
  });

  it('rejects NUL in JSON, and accepts JSON that looks like a message', async () => {
    const events = createClient(EventService, harness.transports[way]);
    const about = { type: 'refund.failed.v1', objectId: randomUUID() };
    const publish = (data: JsonObject) => events.publishEvent({ ...newWrite(newTenant()), ...about, data });
    await invalid(publish({ list: [{ text: 'a\0b' }] }), 'data');
    await invalid(publish({ 'a\0b': 1 }), 'data');
    const another = publish({ fields: 'text', kind: { case: 'numberValue' } });
    await expect(another).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(another).rejects.not.toThrow('without NUL');
  });
});

it('accepts storable requests, and names the field that is not', () => {
  const fieldAtFault = (data: JsonObject) =>
    unstorableValues(PublishEventRequestSchema, create(PublishEventRequestSchema, { data }))?.[0]?.field;
  expect(fieldAtFault({ text: 'a', amount: 1.5, none: null, yes: true, list: [] })).toBeUndefined();
  expect(fieldAtFault({ text: '\ud800' })).toBe('data');
  expect(fieldAtFault({ amount: Number.POSITIVE_INFINITY })).toBe('data');
});
