import { accountPages } from './account/account.page.ts';
import { advanceDetailPage } from './advances/advance-detail.page.ts';
import { advanceListPages } from './advances/advance-list.page.ts';
import { newQuotePages } from './advances/new-quote.page.ts';
import { quotePage } from './advances/quote.page.ts';
import { requestAdvanceAction } from './advances/request-advance.action.ts';
import { apiKeysPages } from './api-keys/api-keys.page.ts';
import { auditPage } from './audit/audit.page.ts';
import { disputePages } from './disputes/dispute.page.ts';
import { disputeListPages } from './disputes/dispute-list.page.ts';
import { respondToDisputeAction } from './disputes/respond-to-dispute.action.ts';
import { calendarPage } from './funds/calendar.page.ts';
import { dayPage } from './funds/day.page.ts';
import { projectionPage } from './funds/projection.page.ts';
import { reconcilePages } from './funds/reconcile.page.ts';
import { releaseSalesPage } from './funds/release-sales.page.ts';
import { salePage } from './funds/sale.page.ts';
import { saleListPages } from './funds/sale-list.page.ts';
import { statementPages } from './funds/statement.page.ts';
import { homePages } from './home/home.page.ts';
import { invitationsPage } from './members/invitations.ts';
import { contactAction, invitationActions, memberActions } from './members/members.actions.ts';
import { membersPage } from './members/members.page.ts';
import { overviewPage } from './overview/overview.page.ts';
import { productPage } from './products/product.page.ts';
import { productListPage } from './products/product-list.page.ts';
import { decideRefundCaseActions } from './refunds/decide-refund-case.action.ts';
import { refundCasePages } from './refunds/refund-case.page.ts';
import { refundListPages } from './refunds/refund-list.page.ts';
import { searchPage } from './search/search.page.ts';
import type { DashboardConfig, RouteDependencies } from './shell/dependencies.ts';
import type { Pages } from './shell/pages.ts';
import { signInRoutes } from './sign-in/sign-in.routes.ts';
import { simulatedAdvancePage } from './simulate/advances/advance.page.ts';
import { pastAdvanceAction } from './simulate/advances/past-advance.action.ts';
import { publishEventAction, simulatedEventPage } from './simulate/events.page.ts';
import { panelPage } from './simulate/panel.page.ts';
import { openRefundCaseAction } from './simulate/refunds/open-refund-case.action.ts';
import { simulatedCasePage } from './simulate/refunds/refund-case.page.ts';
import { releaseDueFundsAction } from './simulate/release-due-funds.action.ts';
import { recordSaleAction } from './simulate/sales/record-sale.action.ts';
import { blockActions, saleDisputeActions } from './simulate/sales/sale.actions.ts';
import { simulatedSalePage } from './simulate/sales/sale.page.ts';
import { deliveriesListPages } from './webhooks/deliveries/deliveries-list.page.ts';
import { deliveryActions } from './webhooks/deliveries/delivery.actions.ts';
import { deliveryPage } from './webhooks/deliveries/delivery.page.ts';
import { resendActions } from './webhooks/resends/resend.actions.ts';
import { resendPages } from './webhooks/resends/resend.page.ts';
import { resendPreviewPage } from './webhooks/resends/resend-preview.page.ts';
import { editSubscriptionPages } from './webhooks/subscriptions/edit-subscription.page.ts';
import { newSubscriptionPages } from './webhooks/subscriptions/new-subscription.page.ts';
import { signingSecretPages } from './webhooks/subscriptions/signing-secret.page.ts';
import { subscriptionActions } from './webhooks/subscriptions/subscription.actions.ts';
import { subscriptionPage } from './webhooks/subscriptions/subscription.page.ts';
import { subscriptionListPage } from './webhooks/subscriptions/subscription-list.page.ts';

/** What the dashboard serves without a merchant. */
const ROUTES: readonly ((dependencies: RouteDependencies) => void)[] = [
  signInRoutes,
  accountPages,
  homePages,
];

/** The pages, downloads and actions of merchants. */
const FEATURES: readonly ((pages: Pages, config: DashboardConfig) => void)[] = [
  overviewPage,
  searchPage,
  subscriptionListPage,
  newSubscriptionPages,
  editSubscriptionPages,
  subscriptionPage,
  subscriptionActions,
  signingSecretPages,
  deliveriesListPages,
  deliveryPage,
  deliveryActions,
  resendPreviewPage,
  resendActions,
  resendPages,
  calendarPage,
  projectionPage,
  dayPage,
  releaseSalesPage,
  saleListPages,
  salePage,
  statementPages,
  reconcilePages,
  refundListPages,
  refundCasePages,
  decideRefundCaseActions,
  disputeListPages,
  disputePages,
  respondToDisputeAction,
  advanceListPages,
  newQuotePages,
  quotePage,
  requestAdvanceAction,
  advanceDetailPage,
  productListPage,
  productPage,
  apiKeysPages,
  panelPage,
  recordSaleAction,
  openRefundCaseAction,
  releaseDueFundsAction,
  simulatedCasePage,
  simulatedSalePage,
  blockActions,
  saleDisputeActions,
  pastAdvanceAction,
  simulatedAdvancePage,
  simulatedEventPage,
  publishEventAction,
  membersPage,
  invitationsPage,
  memberActions,
  invitationActions,
  contactAction,
  auditPage,
];

/** Registers everything that the dashboard serves. */
export function registerFeatures(pages: Pages, dependencies: RouteDependencies): void {
  for (const register of ROUTES) register(dependencies);
  for (const register of FEATURES) register(pages, dependencies.config);
}
