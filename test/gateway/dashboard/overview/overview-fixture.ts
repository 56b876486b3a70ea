import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { FundsService } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { SubscriptionError } from '../../../../services/webhooks/subscriptions/subscription.ts';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { refundsOf } from '../../../services/refunds/refund-case-fixture.ts';
import { newUrl, webhooksFixture } from '../../../services/webhooks/webhooks-fixture.ts';
import { type DashboardFixture, startDashboardFixture } from '../dashboard-fixture.ts';

/** How a subscription got into trouble, as the service records it. */
export interface Trouble {
  readonly error: SubscriptionError;
  /** Disabled by a 410 this many days ago; in ERROR when absent. */
  readonly goneDays?: number;
}

export type OverviewFixture = Awaited<ReturnType<typeof startOverviewFixture>>;

/** The dashboard, and merchants with all that their first page shows. */
export async function startOverviewFixture() {
  const fixture: DashboardFixture = await startDashboardFixture();
  const webhooks = webhooksFixture(fixture.harness, fixture.transport);

  async function newMerchant(role = Role.DEVELOPER) {
    const merchantId = randomUUID();
    const tenant = { merchantId, environment: Environment.LIVE };
    return {
      tenant,
      at: (path = '') => `/live/${merchantId}${path}`,
      person: await fixture.signIn({ [merchantId]: role }),
      refunds: refundsOf(fixture.harness, 'inProcess', tenant),
      funds: fundsCaller(fixture.transport, tenant),
      /** A subscription in a state that takes days to reach. */
      async subscription(
        state: 'PENDING' | 'ACTIVE' | 'ERROR' | 'DISABLED',
        trouble?: Trouble,
        url = newUrl(),
      ) {
        const { id } = await webhooks.subscribe(tenant, undefined, url);
        await webhooks.sql(
          `update webhooks.subscription set state = $2, error = $3,
             error_at = case when $3::jsonb is not null then now() - $4 * interval '1 day' end,
             disabled_at = case when $2 = 'DISABLED' then now() - $4 * interval '1 day' end,
             disabled_position = case when $2 = 'DISABLED' then 0 end
           where id = $1`,
          [id, state, trouble?.error ?? null, trouble?.goneDays ?? 0],
        );
        return { id, url };
      },
      /** Counts of attempts of an earlier hour. */
      async attempts(
        subscriptionId: string,
        { hoursAgo, succeeded, failed }: Record<'hoursAgo' | 'succeeded' | 'failed', number>,
      ) {
        await webhooks.sql(
          `insert into webhooks.endpoint_slot as known
             (merchant_id, environment, subscription_id, generation, starts_at, succeeded, failed, latencies)
           select merchant_id, environment, id, generation,
                  date_trunc('hour', now(), 'UTC') - make_interval(hours => $2), $3, $4, '{}'
             from webhooks.subscription where id = $1
           on conflict (merchant_id, environment, subscription_id, generation, starts_at) do update
              set succeeded = known.succeeded + excluded.succeeded, failed = known.failed + excluded.failed`,
          [subscriptionId, hoursAgo, succeeded, failed],
        );
      },
    };
  }
  return { ...fixture, webhooks, newMerchant, fundsClient: createClient(FundsService, fixture.transport) };
}
