import { type CivilDate, civilDateAt, isCivilDate } from '../../../services/platform/civil-date.ts';
import { MAX_AMOUNT_MINOR, parseReais, typedReais } from '../shell/reais-input.ts';
import { type PlainView, textsFor } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';

const EXAMPLE_MINOR = 123_456n;

/** What somebody typed into the form of a quote; empty where she wants no bound. */
export interface TypedBounds {
  readonly amount: string;
  readonly until: string;
}

/** The bounds of a quote as the service takes them. */
export interface QuoteBounds {
  readonly maxAmountMinor?: bigint;
  readonly toDate?: CivilDate;
}

/** Why what was typed is no bound, by the field. */
export type BoundFaults = Partial<TypedBounds>;

/** An amount as one would type it. */
export function exampleAmount({ format }: PlainView): string {
  return typedReais(format, EXAMPLE_MINOR);
}

/** Reads what was typed; faults when it is no amount that can be asked for or no date to come. */
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
