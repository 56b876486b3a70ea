import { expect, it } from 'vitest';
import {
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { MINUTE_MS } from '../../services/platform/durations.ts';
import { newKey } from '../support/harness.ts';
import { DatabaseClients } from './failures/database-clients.ts';
import { startRetriedReceiver } from './separate-processes/shop.ts';

/** Far less than the difference of the clocks. */
const AT_ONCE_MS = 15_000;
const SUBSCRIPTIONS = '/v1/webhook-subscriptions';

it.each([
  { gateway: MINUTE_MS, services: -MINUTE_MS, lanes: MINUTE_MS, worker: -MINUTE_MS },
  { gateway: -MINUTE_MS, services: MINUTE_MS, lanes: -MINUTE_MS, worker: MINUTE_MS },
])(
  'the API answers, and webhooks are sent and retried in time, where clocks are a minute off: %o',
  async (clocks) => {
    await using system = await DatabaseClients.start(clocks);
    // It fails once for each event.
    const { receiver } = await startRetriedReceiver();
    const { merchant, key } = await system.merchant(receiver);
    await merchant.becomes(WebhookSubscriptionState.ACTIVE, AT_ONCE_MS);
    const write = {
      key,
      headers: { 'idempotency-key': newKey() },
      body: { url: `https://shop.example/${newKey()}`, eventTypes: ['refund.requested.v1'] },
    };
    const [first, again] = [await system.call(SUBSCRIPTIONS, write), await system.call(SUBSCRIPTIONS, write)];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.json).toEqual(first.json);
    const page = await system.call(`${SUBSCRIPTIONS}?limit=1`, { key });
    const next = await system.call(`${SUBSCRIPTIONS}?limit=1&after=${page.json.nextCursor}`, { key });
    expect([page.status, next.status]).toEqual([200, 200]);
    const events = [await merchant.publish(), await merchant.publish()];
    // The signatures are verified, their times included.
    await merchant.received(events, AT_ONCE_MS);
    // The time of the lanes' clock, which is really wrong.
    const sentAtMs = Number(receiver.requests.at(-1)!.headers['webhook-timestamp']) * 1_000;
    expect(Math.abs(sentAtMs - clocks.lanes - Date.now())).toBeLessThan(AT_ONCE_MS);
    for (const id of events) await merchant.delivery(id, DeliveryStatus.SUCCEEDED, AT_ONCE_MS);
  },
);
