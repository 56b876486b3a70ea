import { randomUUID } from 'node:crypto';
import { createClient, type Transport } from '@connectrpc/connect';
import { WorkflowCommandService } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import {
  DeliveryService,
  DispatchService,
  EventService,
  WebhookSubscriptionService,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newWrite, type TestHarness, type TestTenant } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';

/** A URL of a public address, so that no DNS is asked. */
export const newUrl = () => `https://93.184.215.14/hooks/${randomUUID()}`;

export const PAYMENT = {
  id: '0197c9e0-2a11-7c04-b0a3-3a6c2d7e5b20',
  amount: 9_007_199_254_740_991,
  currency: 'BRL',
  paymentMethod: 'CARD',
  status: 'SUCCEEDED',
  paidAt: '2026-07-02T13:05:00.000Z',
};

/** The webhooks services as tests call them over one transport, and the database behind them. */
export function webhooksFixture(harness: Pick<TestHarness, 'databaseUrl'>, transport: Transport) {
  const subscriptions = createClient(WebhookSubscriptionService, transport);
  const events = createClient(EventService, transport);
  const dispatch = createClient(DispatchService, transport);
  const commands = createClient(WorkflowCommandService, transport);
  return {
    subscriptions,
    events,
    dispatch,
    deliveries: createClient(DeliveryService, transport),

    async subscribe(tenant: TestTenant, eventTypes = ['payment.succeeded.v1'], url = newUrl()) {
      const answer = await subscriptions.createWebhookSubscription({ ...newWrite(tenant), url, eventTypes });
      return answer.subscription!;
    },

    async publish(tenant: TestTenant, objectId: string = randomUUID(), requestId?: string) {
      const answer = await events.publishEvent({
        ...newWrite(tenant),
        type: 'payment.succeeded.v1',
        objectId,
        data: PAYMENT,
        ...(requestId && { requestId }),
      });
      return answer.event!;
    },

    /** Publishes events of as many objects, one after another; returns their ids. */
    async publishMany(tenant: TestTenant, count: number): Promise<string[]> {
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1) ids.push((await this.publish(tenant)).id);
      return ids;
    },

    claimCommands: async () => (await commands.claimCommands({ waitMs: 0, maxCommands: 100 })).commands,
    confirmCommands: (commandIds: string[]) => commands.confirmCommands({ commandIds }),

    /** Runs SQL directly on the database, for example to let time pass. */
    sql: <Row extends object>(text: string, values?: unknown[]) => sqlOf<Row>(harness, text, values),
  };
}

export type WebhooksFixture = ReturnType<typeof webhooksFixture>;
