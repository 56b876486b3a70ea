import type { GetBalanceResponse } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { unlessRefused } from '../../../services/platform/rpc/connect-errors.ts';
import { amountCard, link, notice } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { fundsTexts } from './funds.texts.ts';

/** The balance; undefined when its totals are out of range. */
export function balanceOf({ clients }: View): Promise<GetBalanceResponse | undefined> {
  return unlessRefused(clients.funds.getBalance({}), { AMOUNT_OUT_OF_RANGE: undefined });
}

export function balanceCards(view: View, balance: GetBalanceResponse | undefined): Html {
  const t = textsFor(view, fundsTexts).balance;
  if (!balance) return notice('busy', t.tooLarge);
  const blockedSales = link(view, '/funds/sales?status=BLOCKED', t.blockedSales);
  const blockedHint = html`${t.blockedHint}${balance.blockedAmountMinor > 0n ? html` ${blockedSales}` : nothing}`;
  return html`<div class="cards balance">
${amountCard(view, t.available, balance.availableAmountMinor, t.availableHint)}
${amountCard(view, t.released, balance.releasedAmountMinor, t.releasedHint)}
${amountCard(view, t.scheduled, balance.scheduledAmountMinor, t.scheduledHint)}
${amountCard(view, t.blocked, balance.blockedAmountMinor, blockedHint)}
${amountCard(view, t.openDebts, balance.openDebtsAmountMinor, t.openDebtsHint)}
</div>`;
}
