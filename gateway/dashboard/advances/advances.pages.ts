import type { FeatureDependencies } from '../shell/feature.ts';
import { advanceDetailPage } from './advance-detail.page.ts';
import { advanceDownload, advanceListPage } from './advance-list.page.ts';
import { quotePages } from './quote.pages.ts';
import { requestAdvanceAction } from './request-advance.action.ts';

/** The advance pages: list, details, quote and request. */
export function advancesPages(dependencies: FeatureDependencies): void {
  advanceListPage(dependencies);
  advanceDownload(dependencies);
  quotePages(dependencies);
  requestAdvanceAction(dependencies);
  advanceDetailPage(dependencies);
}
