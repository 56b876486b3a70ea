import type { RoomDependencies } from '../room.ts';
import { deliveriesListPages } from './deliveries-list.pages.ts';
import { deliveryActions } from './delivery.actions.ts';
import { deliveryPage } from './delivery.page.ts';
import { resendActions } from './resend.actions.ts';
import { resendPages } from './resend.pages.ts';

/** Pages of deliveries and resends. */
export function deliveriesPages(dependencies: RoomDependencies): void {
  deliveriesListPages(dependencies);
  deliveryPage(dependencies);
  deliveryActions(dependencies);
  resendActions(dependencies);
  resendPages(dependencies);
}
