import { evidencePages } from '../evidence/evidence.pages.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { disputePage, renderDispute } from './dispute.page.ts';
import { disputeDownload, disputeListPage } from './dispute-list.page.ts';
import { respondToDisputeAction } from './respond-to-dispute.action.ts';

/** The pages of disputes. */
export function disputesPages(dependencies: FeatureDependencies): void {
  disputeListPage(dependencies);
  disputeDownload(dependencies);
  disputePage(dependencies);
  respondToDisputeAction(dependencies);
  evidencePages(dependencies, {
    path: '/disputes/:disputeId',
    section: 'disputes',
    subjectOf: ({ disputeId }) => ({ disputeId: disputeId! }),
    render: (view, { disputeId }, evidenceFault) =>
      renderDispute(dependencies.clients, view, disputeId!, { evidenceFault }),
  });
}
