import { randomUUID } from 'node:crypto';
import { Role } from '../../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type AttemptOutcome,
  type AttemptRecords,
  openAttemptRecords,
} from '../../../../services/webhooks/attempts/attempt-records.ts';
import { type ResendFixture, resendFixture } from '../../../../services/webhooks/resends/resend-fixture.ts';
import type { TestTenant } from '../../../../support/harness.ts';
import { type DashboardFixture, startDashboardFixture, type Visitor } from '../../dashboard-fixture.ts';

/** A merchant with a developer who opens pages. */
export interface Shop {
  readonly tenant: TestTenant;
  /** The base path of its pages. */
  readonly base: string;
  readonly developer: Visitor;
}

export interface DeliveriesFixture extends DashboardFixture {
  readonly webhooks: ResendFixture;
  readonly attempts: AttemptRecords;
  shop(role?: Role): Promise<Shop>;
  /** A subscription whose ping was accepted. */
  subscribed(tenant: TestTenant, url?: string): Promise<{ id: string; url: string }>;
  /** Publishes an event and records an attempt of each of its deliveries; returns the deliveries' ids. */
  attempted(tenant: TestTenant, outcome: AttemptOutcome, objectId?: string): Promise<string[]>;
  /** A resend of an event to a subscription, which has created nothing yet. */
  resending(tenant: TestTenant): Promise<{ id: string; subscriptionId?: string }>;
}

/** Dashboard and services that own no lanes: attempts are recorded by the tests. */
export async function startDeliveriesFixture(): Promise<DeliveriesFixture> {
  const fixture = await startDashboardFixture();
  const webhooks = resendFixture(fixture.harness, fixture.transport);
  const attempts = await openAttemptRecords(fixture.harness);
  const subscribed: DeliveriesFixture['subscribed'] = async (tenant, url) => {
    const subscription = await webhooks.subscribe(tenant, undefined, url);
    await attempts.recordPending(tenant.merchantId, {});
    return subscription;
  };
  return {
    ...fixture,
    webhooks,
    attempts,
    subscribed,
    async shop(role = Role.DEVELOPER) {
      const merchantId = randomUUID();
      const developer = await fixture.signIn({ [merchantId]: role });
      const tenant = { merchantId, environment: Environment.LIVE };
      return { tenant, base: `/live/${merchantId}`, developer };
    },
    async attempted(tenant, outcome, objectId) {
      await webhooks.publish(tenant, objectId);
      return attempts.recordPending(tenant.merchantId, outcome);
    },
    async resending(tenant) {
      const { id: subscriptionId } = await subscribed(tenant);
      await webhooks.publish(tenant);
      await attempts.recordPending(tenant.merchantId, {});
      const value = webhooks.period(Date.now() - 60_000, Date.now());
      return webhooks.resend(tenant, { case: 'period', value }, { subscriptionId });
    },
    async close() {
      await attempts.close();
      await fixture.close();
    },
  };
}
