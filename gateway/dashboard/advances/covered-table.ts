import type { QuoteInstallment } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { amountColumn, dataTable } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';

/** A quote may cover a thousand installments; the furthest dates share a row. */
const MAX_DATES = 31;

interface DateRow {
  readonly date: Html | string;
  readonly days: string;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
}

/** The installments that an advance covers, by release date, each with a link to its day. */
export function coveredTable(view: View, installments: readonly QuoteInstallment[]): Html {
  const texts = textsFor(view, advancesTexts);
  const t = texts.quote;
  const dates = [...Map.groupBy(installments, ({ date }) => date)];
  const rows: DateRow[] = dates.slice(0, MAX_DATES).map(([date, due]) => ({
    date: html`<a href="${pathTo(view, `/funds/days/${date}/sales`)}"><time datetime="${date}">${view.format.date(date)}</time></a>`,
    days: t.daysText(view.format.number(due[0]!.days)),
    ...sumsOf(due),
  }));
  const others = dates.slice(MAX_DATES);
  if (others.length > 0) {
    const date = t.others(view.format.number(others.length));
    rows.push({ date, days: '', ...sumsOf(others.flatMap(([, due]) => due)) });
  }
  return dataTable<DateRow>(
    t.table,
    [
      { label: t.date, cell: ({ date }) => date },
      { label: t.days, isNumber: true, cell: ({ days }) => days },
      amountColumn(view, texts.amount, ({ amountMinor }) => amountMinor),
      amountColumn(view, texts.fee, ({ feeMinor }) => feeMinor),
    ],
    rows,
    '',
  );
}

function sumsOf(installments: readonly QuoteInstallment[]) {
  return {
    amountMinor: installments.reduce((sum, installment) => sum + installment.amountMinor, 0n),
    feeMinor: installments.reduce((sum, installment) => sum + installment.feeAmountMinor, 0n),
  };
}
