import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { DashboardClients } from '../dashboard-clients.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { html } from '../shell/html.ts';
import { liveRegion } from '../shell/live.ts';
import { withTroubleBanner } from '../shell/trouble-banner.ts';
import { type Page, textsFor, type View } from '../shell/view.ts';
import { readSubscriptions } from '../webhooks/subscriptions/subscription-reads.ts';
import { balanceCard } from './balance-card.ts';
import { overviewTexts } from './overview.texts.ts';
import { refundsCard } from './refunds-card.ts';
import { releasesCard } from './releases-card.ts';
import { webhooksCard } from './webhooks-card.ts';

/** A card whose service takes longer says so: people come here to look, not to wait. */
const TIMEOUT_MS = 3_000;

/** The first page of a merchant: what needs somebody, and how things stand. */
export function overviewPages({ pages, clients }: FeatureDependencies): void {
  pages.page({ path: '', role: Role.VIEWER, section: 'overview' }, (view) => overviewPage(view, clients));
}

async function overviewPage(whole: View, clients: DashboardClients): Promise<Page> {
  const view = { ...whole, call: { ...whole.call, timeoutMs: TIMEOUT_MS } };
  const reading = readSubscriptions(clients, view);
  const [subscriptions, webhooks, refunds, balance, releases] = await Promise.all([
    // That they cannot be read, their card says.
    reading.catch(() => []),
    webhooksCard(view, reading),
    refundsCard(view, clients),
    balanceCard(view, clients),
    releasesCard(view, clients),
  ]);
  const live = { refunds, webhooks, balance, releases };
  const cards = Object.entries(live).map(([name, content]) => liveRegion(name, content));
  const page = {
    title: textsFor(view, overviewTexts).title,
    live,
    body: html`<div class="cards overview">${cards}</div>`,
  };
  return withTroubleBanner(view, page, subscriptions);
}
