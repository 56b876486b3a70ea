import type { Pages } from '../shell/pages.ts';
import { IN_SANDBOX, redirectWithOutcome } from './sandbox.ts';

const MAX_CALLS = 20;

/** Releases the merchant's due funds, as the daily schedule does for all merchants. */
export function releaseDueFundsAction(pages: Pages): void {
  pages.action({ ...IN_SANDBOX, path: '/simulate/release' }, async (view) => {
    for (let calls = 0; calls < MAX_CALLS; calls += 1) {
      const { hasMore } = await view.clients.funds.releaseDueFunds({});
      if (!hasMore) break;
    }
    return redirectWithOutcome(view, '/simulate', 'release');
  });
}
