import { Type } from 'typebox';
import type { DashboardClients } from '../dashboard-clients.ts';
import { redirectWithOutcome, type SandboxPages } from './sandbox-pages.ts';

const MOST_CALLS = 20;

/** Releases what is due of this merchant, as the daily schedule does for all. */
export function releaseDueFundsAction(pages: SandboxPages, { funds }: DashboardClients): void {
  pages.action({ path: '/simulate/release', form: Type.Object({}) }, async (view) => {
    for (let calls = 0; calls < MOST_CALLS; calls += 1) {
      const { hasMore } = await funds.releaseDueFunds(view.tenant, view.call);
      if (!hasMore) break;
    }
    return redirectWithOutcome(view, '/simulate', 'release');
  });
}
