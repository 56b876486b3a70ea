import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Transport } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type ResendDeliveriesRequestSchema,
  ResendState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newWrite, type TestHarness, type TestTenant } from '../../../support/harness.ts';
import type { Attempts, DueAttempt } from '../attempts/attempts-fixture.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

type RequestInit = Exclude<MessageInitShape<typeof ResendDeliveriesRequestSchema>, { $typeName: string }>;
type Selection = NonNullable<RequestInit['selection']>;
type ResendTerms = Pick<RequestInit, 'subscriptionId' | 'onlyFailed' | 'skipNeverSent'>;

const EVENT_TYPE = 'payment.succeeded.v1';

/**
 * The webhooks services as tests of resends call them.
 * @param attempts records attempts, in services that make none; only `deliverAll` and what is built on it need it.
 */
export function resendFixture(
  harness: Pick<TestHarness, 'databaseUrl'>,
  transport: Transport,
  attempts?: Attempts,
) {
  const fixture = webhooksFixture(harness, transport);
  const resends = {
    ...fixture,

    async resend(tenant: TestTenant, selection: Selection, terms: ResendTerms = {}) {
      const request = { ...newWrite(tenant), ...terms, selection };
      return (await fixture.deliveries.resendDeliveries(request)).resend!;
    },

    /** Continues the resend, like each step of its workflow. */
    goOn: (resendId: string, maxDeliveries = 100) =>
      fixture.dispatch.continueResend({ resendId, maxDeliveries }),

    get: async (tenant: TestTenant, resendId: string) =>
      (await fixture.deliveries.getResend({ ...tenant, resendId })).resend!,

    cancel: async (tenant: TestTenant, resendId: string) =>
      (await fixture.deliveries.cancelResend({ ...newWrite(tenant), resendId })).resend!,

    disable: (tenant: TestTenant, subscriptionId: string) =>
      fixture.subscriptions.disableWebhookSubscription({ ...newWrite(tenant), subscriptionId }),

    period: (fromMs: number, toMs: number) => ({ from: timestampFromMs(fromMs), to: timestampFromMs(toMs) }),

    /** Takes every command and confirms it. */
    async claimAllCommands() {
      for (;;) {
        const commandIds = (await fixture.claimCommands()).map(({ id }) => id);
        if (commandIds.length === 0) return;
        await fixture.confirmCommands(commandIds);
      }
    },

    /** Records this status for all waiting deliveries of every merchant; returns them in the order of sending. */
    deliverAll: (status = 200): Promise<DueAttempt[]> => attempts!.answerAll(status),

    /** Events as published at these times, without deliveries; returns their ids. */
    async published(tenant: TestTenant, times: readonly number[], type = EVENT_TYPE): Promise<string[]> {
      const ids = times.map((msecs) => uuidv7({ msecs }));
      await fixture.sql(
        `insert into webhooks.event
           (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
         select $1, $2, id, $4, 'o', n, 'r', now(), '{}'
           from unnest($3::uuid[]) with ordinality as made (id, n)`,
        [tenant.merchantId, environmentOf(tenant), ids, type],
      );
      return ids;
    },

    /** All its deliveries so far, in the order of creation. */
    madeOf: (resendId: string) =>
      fixture.sql<{ id: string; event_id: string; subscription_id: string; status: string }>(
        `select id, event_id, subscription_id, status from webhooks.delivery where resend_id = $1 order by id`,
        [resendId],
      ),

    /** A delivery that has ended. */
    ended: (tenant: TestTenant, subscriptionId: string, eventId: string, status: string) =>
      fixture.sql(
        `insert into webhooks.ended_delivery (merchant_id, environment, id, subscription_id, event_id, event_type,
           object_id, sequence, request_id, ordered, status, attempt_count, ended_at)
         values ($1, $2, $3, $4, $5, 'payment.succeeded.v1', 'o', 1, 'r', false, $6, 1, now())`,
        [tenant.merchantId, environmentOf(tenant), uuidv7(), subscriptionId, eventId, status],
      ),
  };
  return {
    ...resends,

    /** A subscription with this many past events, and a started resend of them. */
    async begun(tenant: TestTenant, events: number) {
      const { id: subscriptionId } = await fixture.subscribe(tenant);
      await resends.deliverAll();
      const start = Date.now() - 60_000;
      const times = Array.from({ length: events }, (_, n) => start + n);
      const eventIds = await resends.published(tenant, times);
      const { id } = await this.again(tenant, subscriptionId);
      return { subscriptionId, eventIds, id };
    },

    /** Another resend of the same events. */
    again: (tenant: TestTenant, subscriptionId: string) => {
      const value = resends.period(Date.now() - 120_000, Date.now());
      return resends.resend(tenant, { case: 'period', value }, { subscriptionId });
    },

    /** Continues the resend and delivers in turn until it has ended; returns the ended resend. */
    async toEnd(resendId: string, status?: number) {
      for (let turns = 0; turns < 100; turns += 1) {
        const { resend } = await resends.goOn(resendId);
        if (resend!.state !== ResendState.RUNNING) return resend!;
        await resends.deliverAll(status);
      }
      throw new Error('the resend does not end');
    },
  };
}

export type ResendFixture = ReturnType<typeof resendFixture>;

const environmentOf = ({ environment }: TestTenant) => (environment === Environment.LIVE ? 'live' : 'test');
