import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { GetDeductionResponse } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Dispute } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { civilDateAt } from '../../../services/platform/civil-date.ts';
import { money } from '../shell/components.ts';
import { unlessRefused } from '../shell/failures.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { stateOf } from './dispute.components.ts';
import { disputesTexts } from './disputes.texts.ts';

/** What a lost dispute has deducted; undefined for any other, or as long as nothing has been deducted. */
export async function deductionOf(view: View, dispute: Dispute): Promise<GetDeductionResponse | undefined> {
  if (stateOf(dispute) !== 'LOST') return undefined;
  return unlessRefused(view.clients.funds.getDeduction({ sourceId: dispute.id }), 'DEDUCTION_NOT_FOUND');
}

/** What a lost dispute has deducted, and how much of it became a debt; nothing for any other dispute. */
export function deductedCard(
  view: View,
  dispute: Dispute,
  deduction: GetDeductionResponse | undefined,
): Html {
  if (stateOf(dispute) !== 'LOST') return nothing;
  const t = textsFor(view, disputesTexts);
  return html`<section class="card"><h2>${t.deducted}</h2>${
    deduction && deduction.amountMinor > 0n
      ? deductedAmount(view, deduction)
      : html`<p>${noneText(view, dispute, deduction)}</p>`
  }</section>`;
}

function noneText(view: View, dispute: Dispute, deduction: GetDeductionResponse | undefined): string {
  const t = textsFor(view, disputesTexts);
  return deduction || dispute.lostAmountMinor === 0n ? t.nothingLeft : t.notDeducted;
}

/** The statement begins on the day of the deduction and has no end: more may have been deducted, or collected, later. */
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
