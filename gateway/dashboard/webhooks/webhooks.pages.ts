import type { FeatureDependencies } from '../shell/feature.ts';
import { deliveriesListPages } from './deliveries/deliveries-list.pages.ts';
import { deliveryActions } from './deliveries/delivery.actions.ts';
import { deliveryPage } from './deliveries/delivery.page.ts';
import { resendActions } from './resends/resend.actions.ts';
import { resendPages } from './resends/resend.pages.ts';
import { resendPreviewPage } from './resends/resend-preview.page.ts';
import { editSubscriptionPages } from './subscriptions/edit-subscription.pages.ts';
import { newSubscriptionPages } from './subscriptions/new-subscription.pages.ts';
import { signingSecretPages } from './subscriptions/signing-secret.pages.ts';
import { subscriptionActions } from './subscriptions/subscription.actions.ts';
import { subscriptionPages } from './subscriptions/subscription.pages.ts';
import { subscriptionListPage } from './subscriptions/subscription-list.pages.ts';

/** The webhook pages: subscriptions and signing secrets, deliveries, and resends. */
export function webhooksPages(dependencies: FeatureDependencies): void {
  subscriptionListPage(dependencies);
  newSubscriptionPages(dependencies);
  editSubscriptionPages(dependencies);
  subscriptionPages(dependencies);
  subscriptionActions(dependencies);
  signingSecretPages(dependencies);
  deliveriesListPages(dependencies);
  deliveryPage(dependencies);
  deliveryActions(dependencies);
  resendPreviewPage(dependencies);
  resendActions(dependencies);
  resendPages(dependencies);
}
