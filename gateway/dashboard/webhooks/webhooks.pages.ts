import type { RoomDependencies } from '../room.ts';
import { newSubscriptionPages } from './new-subscription.pages.ts';
import { signingSecretPages } from './signing-secret.pages.ts';
import { subscriptionPages } from './subscription.pages.ts';
import { subscriptionActions } from './subscription-actions.pages.ts';
import { subscriptionListPage } from './subscription-list.pages.ts';

/** Pages of webhook subscriptions: their list, new ones, each by itself with what can be done to it, and its secret. */
export function webhooksPages(dependencies: RoomDependencies): void {
  subscriptionListPage(dependencies);
  newSubscriptionPages(dependencies);
  subscriptionPages(dependencies);
  subscriptionActions(dependencies);
  signingSecretPages(dependencies);
}
