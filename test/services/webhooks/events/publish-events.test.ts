import { randomUUID } from 'node:crypto';
import { Code, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { EventService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { bearer } from '../../../../services/platform/rpc/remote-transport.ts';
import { EVENT_CATALOG } from '../../../../services/webhooks/events/event-types/event-catalog.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, newWrite, startHarness, type TestTenant } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { PAYMENT } from '../webhooks-fixture.ts';

const harness = await startHarness({ SERVICES: 'webhooks' });
const { baseUrl, token } = harness;
const ways = {
  grpc: createGrpcTransport({ baseUrl, interceptors: [bearer(token)] }),
  connect: harness.transports.connect,
  'connect with JSON': createConnectTransport({
    baseUrl,
    httpVersion: '1.1',
    useBinaryFormat: false,
    interceptors: [bearer(token)],
  }),
  'in process': harness.transports.inProcess,
};
afterAll(() => harness.close());

const events = (transport: Transport = harness.transports.inProcess) => createClient(EventService, transport);
const payment = (objectId: string = randomUUID()) => ({
  type: 'payment.succeeded.v1',
  objectId,
  data: PAYMENT,
});
const write = (tenant: TestTenant = newTenant()) => newWrite(tenant);
const published = (tenant: TestTenant) =>
  sqlOf<{ id: string; object_id: string; sequence: string }>(
    harness,
    'select id, object_id, sequence from webhooks.event where merchant_id = $1 order by id',
    [tenant.merchantId],
  );
const callerWith = (...grants: string[]) =>
  events(harness.services.transportFor({ name: 'publisher', grants: new Set(grants) }));

it.each(['grpc', 'connect', 'connect with JSON', 'in process'] as const)(
  'publishes the events of a call in the order of the request, over %s',
  async (way) => {
    const tenant = newTenant();
    const objectIds = ['a', 'b', 'a', 'a', 'c'];
    const request = {
      ...write(tenant),
      events: objectIds.map((objectId, index) => ({ ...payment(objectId), requestId: `request ${index}` })),
    };
    const answer = await events(ways[way]).publishEvents(request);
    expect(answer.events.map(({ objectId }) => objectId)).toEqual(objectIds);
    expect(answer.events.map(({ sequence }) => Number(sequence))).toEqual([1, 1, 2, 3, 1]);
    expect((await published(tenant)).map(({ id }) => id)).toEqual(answer.events.map(({ id }) => id));
    for (const [index, event] of answer.events.entries()) {
      const { event: stored } = await events().getEvent({ ...tenant, eventId: event.id });
      expect(stored).toEqual({ ...event, data: PAYMENT });
      expect(event.requestId).toBe(`request ${index}`);
    }
    let headers: Headers | undefined;
    const onHeader = (header: Headers) => {
      headers = header;
    };
    expect(await events(ways[way]).publishEvents(request, { onHeader })).toEqual(answer);
    expect(headers?.get('idempotency-replayed')).toBe('true');
    expect(await published(tenant)).toHaveLength(5);
  },
);

it('publishes once per idempotency key under concurrent calls', async () => {
  const tenant = newTenant();
  const request = { ...write(tenant), events: [payment('a'), payment('b')] };
  const singles = Array.from({ length: 20 }, () =>
    events().publishEvent({ ...write(tenant), ...payment('a') }),
  );
  const [first, again] = await Promise.allSettled([
    events().publishEvents(request),
    events().publishEvents(request),
  ]);
  await Promise.all(singles);
  expect(first.status).toBe('fulfilled');
  if (again.status === 'rejected') expect(again.reason).toMatchObject({ code: Code.Aborted });
  const rows = await published(tenant);
  expect(rows).toHaveLength(22);
  const ofA = rows.filter(({ object_id }) => object_id === 'a').map(({ sequence }) => Number(sequence));
  expect(ofA.sort((a, b) => a - b)).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
  const other = { ...request, events: [payment('b'), payment('a')] };
  await expectRefusal(events().publishEvents(other), Code.AlreadyExists, 'IDEMPOTENCY_KEY_REUSED');
});

it('publishes none if one is invalid, and names it', async () => {
  const tenant = newTenant();
  const refused = async (index: number, event: object, metadata: Record<string, string>, reason: string) => {
    const all = [payment(), payment(), payment()].with(index, { ...payment(), ...event });
    await expectRefusal(
      events().publishEvents({ ...write(tenant), events: all }),
      ...([Code.InvalidArgument, reason, metadata] as const),
    );
  };
  await refused(
    1,
    { data: { ...PAYMENT, amount: 0 } },
    { field: 'events[1].data', pointer: '/amount' },
    'INVALID_EVENT_DATA',
  );
  await refused(2, { type: 'payment.lost.v1' }, { field: 'events[2].type' }, 'INVALID_EVENT_TYPE');
  await refused(0, { objectId: '' }, { field: 'events[0].object_id' }, 'INVALID_ARGUMENT');
  await refused(1, { objectId: 'a\0' }, { field: 'events[1].object_id' }, 'INVALID_ARGUMENT');
  expect(await published(tenant)).toEqual([]);
});

it('takes 1 to 100 events', async () => {
  const many = (length: number) =>
    events().publishEvents({ ...write(), events: Array.from({ length }, () => payment()) });
  for (const length of [0, 101]) await expectRefusal(many(length), Code.InvalidArgument, 'INVALID_ARGUMENT');
  expect((await many(100)).events).toHaveLength(100);
});

it('requires the grants of all types', async () => {
  const { example } = EVENT_CATALOG.find(({ name }) => name === 'refund.requested.v1')!;
  const refund = { type: 'refund.requested.v1', objectId: 'r', data: example as typeof PAYMENT };
  const request = (environment: Environment) => ({
    ...write(newTenant(environment)),
    events: [payment(), refund],
  });
  const missing = (call: Promise<unknown>, grant: string) =>
    expectRefusal(call, Code.PermissionDenied, 'GRANT_MISSING', { grant });
  await missing(callerWith('publish:payment').publishEvents(request(Environment.LIVE)), 'publish:refund');
  await missing(callerWith('webhooks:write').publishEvents(request(Environment.LIVE)), 'publish:payment');
  await missing(callerWith('webhooks:write').publishEvents({ ...write(), events: [] }), 'publish:<noun>');
  const limited = callerWith('publish:payment', 'publish:refund:test');
  await missing(limited.publishEvents(request(Environment.LIVE)), 'publish:refund');
  expect((await limited.publishEvents(request(Environment.TEST))).events).toHaveLength(2);
});

it('leaves one entry in the audit trail, without data', async () => {
  const tenant = newTenant();
  await events().publishEvents({
    ...write(tenant),
    events: [payment('a'), { ...payment('b'), requestId: 'r' }],
  });
  const entries = await sqlOf(
    harness,
    'select action, caller, request from platform.audit_entry where merchant_id = $1',
    [tenant.merchantId],
  );
  const type = 'payment.succeeded.v1';
  const request = {
    events: [
      { type, objectId: 'a' },
      { type, objectId: 'b', requestId: 'r' },
    ],
  };
  const action = 'payments.webhooks.v1.EventService.PublishEvents';
  expect(entries).toEqual([{ action, caller: 'test', request }]);
});
