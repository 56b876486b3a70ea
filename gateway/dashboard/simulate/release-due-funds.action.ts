import { Type } from 'typebox';
import type { DashboardClients } from '../dashboard-clients.ts';
import { redirectWithOutcome, type SandboxPages } from './sandbox-pages.ts';

const MAX_CALLS = 20;

/** Releases the merchant's due funds, as the daily schedule does for all merchants. */
export function releaseDueFundsAction(pages: SandboxPages, { funds }: DashboardClients): void {
  pages.action({ path: '/simulate/release', form: Type.Object({}) }, async (view) => {
    for (let calls = 0; calls < MAX_CALLS; calls += 1) {
      const { hasMore } = await funds.releaseDueFunds(view.tenant, view.call);
      if (!hasMore) break;
    }
    return redirectWithOutcome(view, '/simulate', 'release');
  });
}
