import { accountPages } from './account/account.pages.ts';
import { advancesPages } from './advances/advances.pages.ts';
import { apiKeysPages } from './api-keys/api-keys.pages.ts';
import { auditPages } from './audit/audit.pages.ts';
import { disputesPages } from './disputes/disputes.pages.ts';
import { fundsPages } from './funds/funds.pages.ts';
import { homePages } from './home/home.pages.ts';
import { membersPages } from './members/members.pages.ts';
import { overviewPages } from './overview/overview.pages.ts';
import { productsPages } from './products/products.pages.ts';
import { refundsPages } from './refunds/refunds.pages.ts';
import { searchPages } from './search/search.pages.ts';
import type { FeatureDependencies } from './shell/feature.ts';
import { signInRoutes } from './sign-in/sign-in.routes.ts';
import { simulatePages } from './simulate/simulate.pages.ts';
import { webhooksPages } from './webhooks/webhooks.pages.ts';

/** Everything that the dashboard serves. */
export function registerFeatures(dependencies: FeatureDependencies): void {
  signInRoutes(dependencies);
  accountPages(dependencies);
  homePages(dependencies);
  overviewPages(dependencies);
  searchPages(dependencies);
  webhooksPages(dependencies);
  fundsPages(dependencies);
  refundsPages(dependencies);
  disputesPages(dependencies);
  advancesPages(dependencies);
  productsPages(dependencies);
  apiKeysPages(dependencies);
  simulatePages(dependencies);
  membersPages(dependencies);
  auditPages(dependencies);
}
