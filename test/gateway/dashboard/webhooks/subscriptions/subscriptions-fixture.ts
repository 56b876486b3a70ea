import { randomUUID } from 'node:crypto';
import { Role } from '../../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type AttemptRecords,
  openAttemptRecords,
} from '../../../../services/webhooks/attempts/attempt-records.ts';
import { type WebhooksFixture, webhooksFixture } from '../../../../services/webhooks/webhooks-fixture.ts';
import { newWrite } from '../../../../support/harness.ts';
import {
  type DashboardFixture,
  type SeenPage,
  startDashboardFixture,
  type Visitor,
} from '../../dashboard-fixture.ts';

export const SECRET = /whsec_[A-Za-z0-9+/=]+/;
export const HOSTILE = '"><img src=x onerror=alert(1)></script>';

/** A merchant of its own, with people of each role. */
export interface MerchantFixture {
  readonly tenant: { readonly merchantId: string; readonly environment: Environment };
  /** Its pages in the live environment: `at('/webhooks')`. */
  at(path: string): string;
  readonly viewer: Visitor;
  readonly developer: Visitor;
  /** The common fields of every write about a subscription. */
  write(subscriptionId: string): {
    readonly merchantId: string;
    readonly environment: Environment;
    readonly idempotencyKey: string;
    readonly subscriptionId: string;
  };
}

export interface SubscriptionsFixture extends DashboardFixture {
  readonly webhooks: WebhooksFixture;
  readonly attempts: AttemptRecords;
  newMerchant(): Promise<MerchantFixture>;
}

/** The dashboard, and the webhooks services behind it as an internal team calls them. */
export async function startSubscriptionsFixture(
  overrides: Record<string, string> = {},
): Promise<SubscriptionsFixture> {
  const fixture = await startDashboardFixture({
    PUBLIC_URL_LIVE: 'https://api.pay.example',
    PUBLIC_URL_SANDBOX: 'https://sandbox.pay.example',
    ...overrides,
  });
  const attempts = await openAttemptRecords(fixture.harness);
  return {
    ...fixture,
    webhooks: webhooksFixture(fixture.harness, fixture.transport),
    attempts,
    async newMerchant() {
      const merchantId = randomUUID();
      const tenant = { merchantId, environment: Environment.LIVE };
      return {
        tenant,
        at: (path) => `/live/${merchantId}${path}`,
        viewer: await fixture.signIn({ [merchantId]: Role.VIEWER }),
        developer: await fixture.signIn({ [merchantId]: Role.DEVELOPER }),
        write: (subscriptionId) => ({ ...newWrite(tenant), subscriptionId }),
      };
    },
    async close() {
      await attempts.close();
      await fixture.close();
    },
  };
}

/** The words of a page's content, without its navigation. */
export const wordsOf = ({ document }: SeenPage) =>
  document.querySelector('main')!.textContent.replaceAll(/\s+/g, ' ');

/** The actions of a page's forms, but for signing out. */
export const actionsOf = ({ document }: SeenPage) =>
  document.querySelectorAll('main form[method=post]').map((form) => form.getAttribute('action')!);
