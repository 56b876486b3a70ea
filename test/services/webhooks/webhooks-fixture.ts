import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import type { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WorkflowCommandService } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import {
  type AttemptReportSchema,
  type AttemptSend,
  DeliveryService,
  DispatchService,
  EventService,
  WebhookSubscriptionService,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { timestampOf } from '../../../services/platform/timestamps.ts';
import { newKey, type TestHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/harness-sql.ts';

export type AttemptReportInit = MessageInitShape<typeof AttemptReportSchema>;

export interface TestTenant {
  readonly merchantId: string;
  readonly environment: Environment;
}

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
      const answer = await subscriptions.createWebhookSubscription({
        ...tenant,
        idempotencyKey: newKey(),
        url,
        eventTypes,
      });
      return answer.subscription!;
    },

    async publish(tenant: TestTenant, objectId: string = randomUUID(), requestId?: string) {
      const answer = await events.publishEvent({
        ...tenant,
        idempotencyKey: newKey(),
        type: 'payment.succeeded.v1',
        objectId,
        data: PAYMENT,
        ...(requestId && { requestId }),
      });
      return answer.event!;
    },

    claim: (maxDeliveries = 100, waitMs = 0) => dispatch.claimBatch({ waitMs, maxDeliveries }),
    claimCommands: async () => (await commands.claimCommands({ waitMs: 0, maxCommands: 100 })).commands,
    confirmCommands: (commandIds: string[]) => commands.confirmCommands({ commandIds }),

    /** Claims one batch and answers its keys for GetAttempt. */
    async claimKeys(maxDeliveries = 100) {
      const { batches } = await dispatch.claimBatch({ waitMs: 2_000, maxDeliveries });
      return batches.flatMap((batch) =>
        batch.deliveryIds.map((deliveryId) => ({ deliveryId, batchId: batch.id })),
      );
    },

    async ask(keys: { deliveryId: string; batchId?: string; now?: boolean }[]) {
      return (await dispatch.getAttempt({ attempts: keys })).answers.map(({ answer }) => answer);
    },

    /** What is to be sent for one key; fails when it is not. */
    async send(key: { deliveryId: string; batchId?: string; now?: boolean }): Promise<AttemptSend> {
      const { answers } = await dispatch.getAttempt({ attempts: [key] });
      const answer = answers[0]!.answer;
      if (answer.case !== 'send') throw new Error(`answered ${answer.case}`);
      return answer.value;
    },

    async report(...reports: AttemptReportInit[]) {
      return (await dispatch.reportAttempts({ reports })).outcomes;
    },

    /** Runs SQL past the services, for example to let time pass. */
    sql: <Row extends object>(text: string, values?: unknown[]) => sqlOf<Row>(harness, text, values),
  };
}

export type WebhooksFixture = ReturnType<typeof webhooksFixture>;

/** A report of an attempt that was answered with this status just now. */
export const answered = (
  deliveryId: string,
  { attemptNumber, generation }: Pick<AttemptSend, 'attemptNumber' | 'generation'>,
  httpStatus: number,
): AttemptReportInit => ({
  deliveryId,
  attemptNumber,
  generation,
  startedAt: timestampOf(new Date()),
  latencyMs: 12,
  httpStatus,
  responseExcerpt: 'ok',
});
