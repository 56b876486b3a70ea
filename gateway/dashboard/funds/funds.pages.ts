import type { FeatureDependencies } from '../shell/feature.ts';
import { calendarPage } from './calendar.page.ts';
import { dayPage } from './day.page.ts';
import { projectionPage } from './projection.page.ts';
import { reconcilePage, releaseDownload } from './reconcile.page.ts';
import { releaseSalesPage } from './release-sales.page.ts';
import { salePage } from './sale.page.ts';
import { saleListDownload, saleListPage } from './sale-list.page.ts';
import { statementPages } from './statement.page.ts';

/** The receivables pages: balance and calendar, releases of a day, projection, sales, the statement, and reconciliation. */
export function fundsPages(dependencies: FeatureDependencies): void {
  calendarPage(dependencies);
  projectionPage(dependencies);
  dayPage(dependencies);
  releaseSalesPage(dependencies);
  saleListPage(dependencies);
  saleListDownload(dependencies);
  salePage(dependencies);
  statementPages(dependencies);
  reconcilePage(dependencies);
  releaseDownload(dependencies);
}
