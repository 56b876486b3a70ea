import type { FeatureDependencies } from '../shell/feature.ts';
import { simulatedAdvancePage } from './advances/advance.page.ts';
import { pastAdvanceAction } from './advances/past-advance.action.ts';
import { publishEventAction, simulatedEventPage } from './events.page.ts';
import { panelPage } from './panel.page.ts';
import { openRefundCaseAction } from './refunds/open-refund-case.action.ts';
import { simulatedCasePage } from './refunds/refund-case.page.ts';
import { releaseDueFundsAction } from './release-due-funds.action.ts';
import { recordSaleAction } from './sales/record-sale.action.ts';
import { blockActions, saleDisputeActions } from './sales/sale.actions.ts';
import { simulatedSalePage } from './sales/sale.page.ts';
import { SandboxPages } from './sandbox-pages.ts';

/** The Simulate pages: what customers, providers and internal teams do, in the sandbox only. */
export function simulatePages({ pages, clients }: FeatureDependencies): void {
  const sandbox = new SandboxPages(pages);
  panelPage(sandbox, clients);
  recordSaleAction(sandbox, clients);
  openRefundCaseAction(sandbox, clients);
  releaseDueFundsAction(sandbox, clients);
  simulatedCasePage(sandbox, clients);
  simulatedSalePage(sandbox, clients);
  blockActions(sandbox, clients);
  saleDisputeActions(sandbox, clients);
  pastAdvanceAction(sandbox, clients);
  simulatedAdvancePage(sandbox, clients);
  simulatedEventPage(sandbox, clients);
  publishEventAction(sandbox, clients);
}
