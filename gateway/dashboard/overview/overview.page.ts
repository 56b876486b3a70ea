import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { roleName, roleTexts } from '../members/role.texts.ts';
import { canSee } from '../shell/access.ts';
import { html, nothing } from '../shell/html.ts';
import { liveRegions } from '../shell/live.ts';
import type { Pages } from '../shell/pages.ts';
import { type Page, textsFor, type View } from '../shell/view.ts';
import { readSubscriptions } from '../webhooks/subscriptions/subscription-reads.ts';
import { withTroubleBanner } from '../webhooks/subscriptions/trouble-banner.ts';
import {
  balanceCard,
  blockedRefundsCard,
  disputesCard,
  refundChartCard,
  refundsCard,
  releaseCalendars,
  releaseChartCard,
  releasesCard,
} from './cards.ts';
import { deliveriesChartCard } from './deliveries-chart-card.ts';
import { overviewTexts } from './overview.texts.ts';
import { webhooksCard } from './webhooks-card.ts';

/** A card whose service takes longer shows as unavailable, so that the page does not wait. */
const TIMEOUT_MS = 3_000;

/** A merchant's first page: what needs attention, and the current figures. */
export function overviewPage(pages: Pages): void {
  const options = { path: '', role: Role.VIEWER, section: 'overview', timeoutMs: TIMEOUT_MS } as const;
  pages.page({ ...options, isCostly: true }, renderOverview);
}

async function renderOverview(view: View): Promise<Page> {
  const t = textsFor(view, overviewTexts);
  const seesWebhooks = canSee(view, 'webhooks');
  const reading = seesWebhooks ? readSubscriptions(view, { withHealth: true }) : Promise.resolve([]);
  const calendars = releaseCalendars(view);
  const [subscriptions, webhooks, refunds, blocked, disputes, balance, releases, months, states, hours] =
    await Promise.all([
      // The card reports the failure.
      reading.catch(() => []),
      webhooksCard(view, reading),
      refundsCard(view),
      blockedRefundsCard(view),
      disputesCard(view),
      balanceCard(view),
      releasesCard(view, calendars),
      releaseChartCard(view, calendars),
      refundChartCard(view),
      seesWebhooks ? deliveriesChartCard(view) : nothing,
    ]);
  const live = {
    refunds,
    blocked,
    disputes,
    ...(seesWebhooks && { webhooks }),
    balance,
    releases,
    months,
    states,
    ...(seesWebhooks && { hours }),
  };
  const page = {
    title: t.title,
    // After a change of the own role, which may close the page of the team.
    notices: { role: t.ownRole(textsFor(view, roleTexts)[roleName(view.role)]) },
    live,
    body: html`<div class="cards overview">${liveRegions(live)}</div>`,
  };
  return withTroubleBanner(view, page, subscriptions);
}
