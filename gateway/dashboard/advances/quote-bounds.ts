import { Type } from 'typebox';
import { MAX_AMOUNT_MINOR } from '../../../services/platform/amounts.ts';
import { type CivilDate, civilDateAt, isCivilDate } from '../../../services/platform/civil-date.ts';
import { parseReais, typedReais } from '../shell/reais-input.ts';
import { type PlainView, textsFor } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';

const EXAMPLE_MINOR = 123_456n;

/** The limits that were entered for a quote, in a form or a query. */
export const boundParameters = {
  amount: Type.Optional(Type.String({ maxLength: 40 })),
  until: Type.Optional(Type.String({ maxLength: 40 })),
};

/** The submitted limits of a quote; empty for no limit. */
export interface TypedBounds {
  readonly amount: string;
  readonly until: string;
}

/** The path of the form for another quote with these limits. */
export const newQuotePath = (typed: TypedBounds): string =>
  `/advances/new?${new URLSearchParams({ ...typed })}`;

/** The limits of a quote as the service accepts them. */
export interface QuoteBounds {
  readonly maxAmountMinor?: bigint;
  readonly toDate?: CivilDate;
}

/** Why a limit was rejected, by field. */
export type BoundFaults = Partial<TypedBounds>;

/** An example of an amount to enter. */
export function exampleAmount({ format }: PlainView): string {
  return typedReais(format, EXAMPLE_MINOR);
}

/** Parses the submitted limits; `faults` when the amount is not valid or the date is not in the future. */
export function readBounds(
  view: PlainView,
  { amount, until }: TypedBounds,
): QuoteBounds | { faults: BoundFaults } {
  const maxAmountMinor = amount.trim() === '' ? undefined : parseReais(view.language, amount);
  const faults: BoundFaults = {
    ...(amount.trim() !== '' && amountFault(view, maxAmountMinor)),
    ...(until !== '' && untilFault(view, until)),
  };
  if (Object.keys(faults).length > 0) return { faults };
  return { ...(maxAmountMinor !== undefined && { maxAmountMinor }), ...(until !== '' && { toDate: until }) };
}

function amountFault(view: PlainView, minor: bigint | undefined): Pick<BoundFaults, 'amount'> {
  const t = textsFor(view, advancesTexts).form.faults;
  if (minor === undefined) return { amount: t.amount(exampleAmount(view)) };
  if (minor === 0n) return { amount: t.tooSmall };
  return minor > MAX_AMOUNT_MINOR ? { amount: t.tooLarge(view.format.money(MAX_AMOUNT_MINOR)) } : {};
}

function untilFault(view: PlainView, until: string): Pick<BoundFaults, 'until'> {
  const t = textsFor(view, advancesTexts).form.faults;
  if (!isCivilDate(until)) return { until: t.until };
  return until <= civilDateAt(new Date()) ? { until: t.untilPast } : {};
}
