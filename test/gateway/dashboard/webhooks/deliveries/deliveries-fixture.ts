import { randomUUID } from 'node:crypto';
import { Role } from '../../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { type ResendFixture, resendFixture } from '../../../../services/webhooks/resend-fixture.ts';
import {
  type AttemptReportInit,
  answered,
  type TestTenant,
} from '../../../../services/webhooks/webhooks-fixture.ts';
import { type DashboardFixture, startDashboardFixture, type Visitor } from '../../dashboard-fixture.ts';

/** A merchant with a developer who looks on. */
export interface Shop {
  readonly tenant: TestTenant;
  /** Where its pages are. */
  readonly base: string;
  readonly developer: Visitor;
}

export interface DeliveriesFixture extends DashboardFixture {
  /** The webhooks services, and what a worker does there. */
  readonly webhooks: ResendFixture;
  shop(role?: Role): Promise<Shop>;
  /** A subscription whose ping has arrived. */
  subscribed(tenant: TestTenant, url?: string): Promise<{ id: string; url: string }>;
  /** Publishes an event and reports an attempt of each of its deliveries; answers the deliveries' ids. */
  attempted(tenant: TestTenant, outcome: Partial<AttemptReportInit>, objectId?: string): Promise<string[]>;
}

/** Dashboard and services without a worker: attempts are reported by the tests. */
export async function startDeliveriesFixture(
  overrides: Record<string, string> = {},
): Promise<DeliveriesFixture> {
  const fixture = await startDashboardFixture(overrides);
  const webhooks = resendFixture(fixture.harness, fixture.transport);
  return {
    ...fixture,
    webhooks,
    async shop(role = Role.DEVELOPER) {
      const merchantId = randomUUID();
      const developer = await fixture.signIn({ [merchantId]: role });
      const tenant = { merchantId, environment: Environment.LIVE };
      return { tenant, base: `/live/${merchantId}`, developer };
    },
    async subscribed(tenant, url) {
      const subscription = await webhooks.subscribe(tenant, undefined, url);
      await webhooks.deliverAll();
      return subscription;
    },
    async attempted(tenant, outcome, objectId) {
      await webhooks.publish(tenant, objectId);
      const keys = await webhooks.claimKeys();
      for (const key of keys) {
        const { httpStatus, ...report } = answered(key.deliveryId, await webhooks.send(key), 200);
        const answer = outcome.failure === undefined ? { httpStatus } : {};
        await webhooks.report({ ...report, ...answer, ...outcome } as AttemptReportInit);
      }
      return keys.map(({ deliveryId }) => deliveryId);
    },
  };
}
