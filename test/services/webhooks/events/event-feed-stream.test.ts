import { Code, createClient } from '@connectrpc/connect';
import { afterAll, expect, it } from 'vitest';
import { EventService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { ALL_GRANTS } from '../../../../services/platform/rpc/grants.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const harness = await startHarness({ SERVICES: 'webhooks' });
const fixture = webhooksFixture(harness, harness.transports.grpc);
afterAll(() => harness.close());

const feed = () => createClient(EventService, harness.transports.grpc);

const from = (cursor: string) => ({ start: { case: 'cursor' as const, value: cursor } });

type Message = { readonly event?: { readonly id: string }; readonly cursor: string };

/** Reads messages until one matches; leaves the stream open. */
async function nextWith(stream: AsyncIterator<Message>, matches: (message: Message) => boolean) {
  for (;;) {
    const { value, done } = await stream.next();
    if (done) throw new Error('the stream has ended');
    if (matches(value)) return value;
  }
}

const openStream = (request: object, signal?: AbortSignal) =>
  (feed().getEventFeed(request, { ...(signal && { signal }) }) as AsyncIterable<Message>)[
    Symbol.asyncIterator
  ]();

it('sends a cursor at once, then events as they are logged, and ends when its caller cancels', async () => {
  const tenant = newTenant();
  const cancel = new AbortController();
  const stream = openStream(tenant, cancel.signal);
  const first = await nextWith(stream, () => true);
  expect(first.event).toBeUndefined();
  const { id } = await fixture.publish(tenant);
  const sent = await nextWith(stream, ({ event }) => event !== undefined);
  expect(sent.event!.id).toBe(id);
  const resumed = openStream({ ...tenant, ...from(first.cursor) }, cancel.signal);
  expect((await nextWith(resumed, ({ event }) => event !== undefined)).event!.id).toBe(id);
  const caughtUp = openStream({ ...tenant, ...from(sent.cursor) }, cancel.signal);
  expect((await nextWith(caughtUp, () => true)).event).toBeUndefined();
  const pending = stream.next();
  cancel.abort();
  await expect(pending).rejects.toMatchObject({ code: Code.Canceled });
}, 60_000);

it('refuses an invalid request and a missing grant like other calls', async () => {
  const first = (request: object) => openStream(request).next();
  await expectRefusal(first({ merchantId: 'x' }), Code.InvalidArgument, 'INVALID_ARGUMENT');
  await expectRefusal(first(from('x')), Code.InvalidArgument, 'INVALID_EVENT_CURSOR');
  const grants = new Set(ALL_GRANTS.filter((grant) => grant !== 'operations'));
  const other = createClient(EventService, harness.services.transportFor({ name: 'other', grants }));
  const refused = other.getEventFeed({})[Symbol.asyncIterator]().next();
  await expectRefusal(refused, Code.PermissionDenied, 'GRANT_MISSING', { grant: 'operations' });
});

it.each(['grpc', 'connect'] as const)(
  'ends over %s without an error when the services close',
  async (way) => {
    const own = await startHarness({ SERVICES: 'webhooks' });
    const client = createClient(EventService, own.transports[way]);
    const stream = client.getEventFeed({})[Symbol.asyncIterator]();
    expect((await stream.next()).done).toBe(false);
    const ended = stream.next();
    const startedAt = performance.now();
    await own.close();
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    expect(await ended).toEqual({ done: true, value: undefined });
  },
);
