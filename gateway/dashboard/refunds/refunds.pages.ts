import { evidencePages } from '../evidence/evidence.pages.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { decideRefundCaseActions } from './decide-refund-case.action.ts';
import { refundCasePage, renderRefundCase } from './refund-case.page.ts';
import { refundDownload, refundListPage } from './refund-list.page.ts';

/** The refund pages. */
export function refundsPages(dependencies: FeatureDependencies): void {
  refundListPage(dependencies);
  refundDownload(dependencies);
  refundCasePage(dependencies);
  decideRefundCaseActions(dependencies);
  evidencePages(dependencies, {
    path: '/refunds/:refundCaseId',
    section: 'refunds',
    subjectOf: ({ refundCaseId }) => ({ refundCaseId: refundCaseId! }),
    render: (view, { refundCaseId }, evidenceFault) =>
      renderRefundCase(dependencies.clients, view, refundCaseId!, { evidenceFault }),
  });
}
