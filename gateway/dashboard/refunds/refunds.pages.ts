import type { FeatureDependencies } from '../shell/feature.ts';
import { decideRefundCaseActions } from './decide-refund-case.action.ts';
import { refundCasePage } from './refund-case.page.ts';
import { refundListPage } from './refund-list.page.ts';

/** The refund pages. */
export function refundsPages(dependencies: FeatureDependencies): void {
  refundListPage(dependencies);
  refundCasePage(dependencies);
  decideRefundCaseActions(dependencies);
}
