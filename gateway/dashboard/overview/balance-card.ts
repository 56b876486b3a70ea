import type { GetBalanceResponse } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { DashboardClients } from '../dashboard-clients.ts';
import { balanceOf } from '../funds/balance-cards.ts';
import { details, money } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { card, renderOrUnavailable } from './card.ts';
import { overviewTexts } from './overview.texts.ts';

/** The available balance and scheduled amounts. */
export async function balanceCard(view: View, clients: DashboardClients): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const content = await renderOrUnavailable(view, balanceOf(clients, view), (balance) =>
    balance ? figures(view, balance) : html`<p>${t.tooLarge}</p>`,
  );
  return card('balance', t.balance, content, html`<a href="${pathTo(view, '/funds')}">${t.toFunds}</a>`);
}

function figures(view: View, balance: GetBalanceResponse): Html {
  const t = textsFor(view, overviewTexts);
  const { scheduledAmountMinor, blockedAmountMinor, openDebtsAmountMinor } = balance;
  return html`<p class="hint">${t.available}</p><p class="figure">${money(view, balance.availableAmountMinor)}</p>
${details([
  [t.scheduled, money(view, scheduledAmountMinor)],
  [t.blocked, blockedAmountMinor === 0n ? undefined : money(view, blockedAmountMinor)],
  [t.openDebts, openDebtsAmountMinor === 0n ? undefined : money(view, openDebtsAmountMinor)],
])}`;
}
