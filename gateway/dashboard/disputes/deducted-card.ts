import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { GetDeductionResponse } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Dispute } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { civilDateAt } from '../../../services/platform/civil-date.ts';
import { unlessRefused } from '../../../services/platform/rpc/connect-errors.ts';
import { money } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { stateOf } from './dispute.components.ts';
import { disputesTexts } from './disputes.texts.ts';

/**
 * What a lost dispute has deducted, even if it was reversed later; undefined for other disputes and before the
 * deduction.
 */
export async function deductionOf(view: View, dispute: Dispute): Promise<GetDeductionResponse | undefined> {
  const state = stateOf(dispute);
  if (state !== 'LOST' && state !== 'REVERSED') return undefined;
  return unlessRefused(view.clients.funds.getDeduction({ sourceId: dispute.id }), {
    DEDUCTION_NOT_FOUND: undefined,
  });
}

/** What a lost dispute has deducted and how much of it became a debt, or what was returned; nothing for other disputes. */
export function deductedCard(
  view: View,
  dispute: Dispute,
  deduction: GetDeductionResponse | undefined,
): Html {
  const t = textsFor(view, disputesTexts);
  const card = (title: string, content: Html) =>
    html`<section class="card"><h2>${title}</h2>${content}</section>`;
  switch (stateOf(dispute)) {
    case 'LOST': {
      const none = deduction || dispute.lostAmountMinor === 0n ? t.nothingLeft : t.notDeducted;
      const isDeducted = deduction && deduction.amountMinor > 0n;
      return card(t.deducted, isDeducted ? deductedAmount(view, deduction) : html`<p>${none}</p>`);
    }
    case 'REVERSED':
      // The dispute's workflow restores it within seconds.
      return card(
        t.restored,
        deduction?.reversedAt ? restoredAmount(view, deduction) : html`<p>${t.notRestored}</p>`,
      );
    default:
      return nothing;
  }
}

function restoredAmount(view: View, deduction: GetDeductionResponse): Html {
  const t = textsFor(view, disputesTexts);
  const { amountMinor, restoredAmountMinor, canceledDebtAmountMinor, reversedAt } = deduction;
  if (amountMinor === 0n) return html`<p>${t.nothingToRestore}</p>`;
  const returnedMinor = restoredAmountMinor + canceledDebtAmountMinor;
  const note = (minor: bigint, text: (amount: string) => string) =>
    minor > 0n ? html`<p>${text(view.format.money(minor))}</p>` : nothing;
  const on = civilDateAt(timestampDate(reversedAt!));
  return html`<p class="figure">${money(view, returnedMinor)}</p>
<p><a href="${pathTo(view, `/funds/statement?from=${on}`)}">${t.toStatement}</a></p>
${note(canceledDebtAmountMinor, t.debtCanceled)}${note(amountMinor - returnedMinor, t.paidOutside)}`;
}

/** Links to the statement from that day on, because more may have been deducted or collected later. */
function deductedAmount(view: View, { amountMinor, occurredAt, ...debt }: GetDeductionResponse): Html {
  const t = textsFor(view, disputesTexts);
  const from = civilDateAt(timestampDate(occurredAt!));
  return html`<p class="figure">${money(view, amountMinor)}</p>
<p><a href="${pathTo(view, `/funds/statement?from=${from}`)}">${t.toStatement}</a></p>
${debt.debtAmountMinor > 0n ? debtText(view, debt) : nothing}`;
}

function debtText(
  view: View,
  {
    debtAmountMinor,
    openDebtAmountMinor,
  }: Pick<GetDeductionResponse, 'debtAmountMinor' | 'openDebtAmountMinor'>,
): Html {
  const t = textsFor(view, disputesTexts);
  const amount = (minor: bigint) => view.format.money(minor);
  const open =
    openDebtAmountMinor > 0n
      ? html`<a href="${pathTo(view, '/funds')}#debts">${t.debtOpen(amount(openDebtAmountMinor))}</a>`
      : t.debtPaid;
  return html`<p>${t.debt(amount(debtAmountMinor))} ${open}</p>`;
}
