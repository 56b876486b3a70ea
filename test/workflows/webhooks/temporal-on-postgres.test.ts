import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { TEMPORAL_START_MS, type TestTemporal } from '../../support/temporal.ts';
import { startTemporalOnPostgres } from '../../support/temporal-on-postgres.ts';
import { DeliverySystem, SOON } from './delivery-system.ts';

const { SUCCEEDED, RETRYING } = DeliveryStatus;
const MERCHANTS = 5;

let temporal: TestTemporal;
let system: DeliverySystem;
beforeAll(async () => {
  temporal = await startTemporalOnPostgres();
  system = await DeliverySystem.start({ WEBHOOK_SCHEDULE_SANDBOX: `0s${',500ms'.repeat(50)}` }, temporal);
}, TEMPORAL_START_MS);
afterAll(() => system?.[Symbol.asyncDispose]());

/** Events of merchants whose endpoints fail until `recover`. */
async function publishToFailing() {
  const deliveries = await Promise.all(
    Array.from({ length: MERCHANTS }, async () => {
      const subscriber = await system.subscriber();
      subscriber.endpoint.answer(503);
      const { id: eventId } = await system.webhooks.publish(subscriber.tenant);
      await system.becomes(subscriber, eventId, RETRYING);
      return { subscriber, eventId };
    }),
  );
  return {
    recover: () => {
      for (const { subscriber } of deliveries) subscriber.endpoint.answer(200);
    },
    /** Waits until each has arrived, and each endpoint has been sent its own event only. */
    areDelivered: () =>
      Promise.all(
        deliveries.map(async ({ subscriber, eventId }) => {
          const { id } = await system.becomes(subscriber, eventId, SUCCEEDED);
          expect(new Set(subscriber.endpoint.eventIds)).toEqual(new Set([eventId]));
          await system.closesAs(id, 'COMPLETED');
          const query = `MerchantIds = '${subscriber.tenant.merchantId}' and Environment = 'test'`;
          await vi.waitFor(async () => expect(await system.find(query)).toContain(`delivery-${id}`), SOON);
        }),
      ),
  };
}

it('delivers all events when Temporal with its state in PostgreSQL is killed under way', async () => {
  const before = await publishToFailing();
  await vi.waitFor(() => expect(system.callsOf('RequestAttempt')).toBeGreaterThan(MERCHANTS), SOON);
  await temporal.kill();
  const meanwhile = await publishToFailing();
  await temporal.start();
  const after = await publishToFailing();
  for (const events of [before, meanwhile, after]) events.recover();
  await Promise.all([before, meanwhile, after].map((events) => events.areDelivered()));
}, 180_000);
