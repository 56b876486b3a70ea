import { accountPages } from './account/account.pages.ts';
import { advanceDetailPage } from './advances/advance-detail.page.ts';
import { advanceDownload, advanceListPage } from './advances/advance-list.page.ts';
import { quotePages } from './advances/quote.pages.ts';
import { requestAdvanceAction } from './advances/request-advance.action.ts';
import { apiKeysPages } from './api-keys/api-keys.pages.ts';
import { auditPages } from './audit/audit.pages.ts';
import { disputePages } from './disputes/dispute.page.ts';
import { disputeDownload, disputeListPage } from './disputes/dispute-list.page.ts';
import { respondToDisputeAction } from './disputes/respond-to-dispute.action.ts';
import { calendarPage } from './funds/calendar.page.ts';
import { dayPage } from './funds/day.page.ts';
import { projectionPage } from './funds/projection.page.ts';
import { reconcilePage, releaseDownload } from './funds/reconcile.page.ts';
import { releaseSalesPage } from './funds/release-sales.page.ts';
import { salePage } from './funds/sale.page.ts';
import { saleListDownload, saleListPage } from './funds/sale-list.page.ts';
import { statementPages } from './funds/statement.page.ts';
import { homePages } from './home/home.pages.ts';
import { membersPages } from './members/members.pages.ts';
import { overviewPages } from './overview/overview.pages.ts';
import { productPage } from './products/product.page.ts';
import { productListPage } from './products/product-list.page.ts';
import { decideRefundCaseActions } from './refunds/decide-refund-case.action.ts';
import { refundCasePages } from './refunds/refund-case.page.ts';
import { refundDownload, refundListPage } from './refunds/refund-list.page.ts';
import { searchPages } from './search/search.pages.ts';
import type { DashboardConfig, RouteDependencies } from './shell/feature.ts';
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
import { deliveriesListPages } from './webhooks/deliveries/deliveries-list.pages.ts';
import { deliveryActions } from './webhooks/deliveries/delivery.actions.ts';
import { deliveryPage } from './webhooks/deliveries/delivery.page.ts';
import { resendActions } from './webhooks/resends/resend.actions.ts';
import { resendPages } from './webhooks/resends/resend.pages.ts';
import { resendPreviewPage } from './webhooks/resends/resend-preview.page.ts';
import { editSubscriptionPages } from './webhooks/subscriptions/edit-subscription.pages.ts';
import { newSubscriptionPages } from './webhooks/subscriptions/new-subscription.pages.ts';
import { signingSecretPages } from './webhooks/subscriptions/signing-secret.pages.ts';
import { subscriptionActions } from './webhooks/subscriptions/subscription.actions.ts';
import { subscriptionPages } from './webhooks/subscriptions/subscription.page.ts';
import { subscriptionListPage } from './webhooks/subscriptions/subscription-list.pages.ts';

/** What the dashboard serves without a merchant. */
const ROUTES: readonly ((dependencies: RouteDependencies) => void)[] = [
  signInRoutes,
  accountPages,
  homePages,
];

/** The pages, downloads and actions of merchants. */
const FEATURES: readonly ((pages: Pages, config: DashboardConfig) => void)[] = [
  overviewPages,
  searchPages,
  subscriptionListPage,
  newSubscriptionPages,
  editSubscriptionPages,
  subscriptionPages,
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
  saleListPage,
  saleListDownload,
  salePage,
  statementPages,
  reconcilePage,
  releaseDownload,
  refundListPage,
  refundDownload,
  refundCasePages,
  decideRefundCaseActions,
  disputeListPage,
  disputeDownload,
  disputePages,
  respondToDisputeAction,
  advanceListPage,
  advanceDownload,
  quotePages,
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
  membersPages,
  auditPages,
];

/** Registers everything that the dashboard serves. */
export function registerFeatures(pages: Pages, dependencies: RouteDependencies): void {
  for (const register of ROUTES) register(dependencies);
  for (const register of FEATURES) register(pages, dependencies.config);
}
