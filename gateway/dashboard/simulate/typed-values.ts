import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { validate as isUuid } from 'uuid';
import { MAX_AMOUNT_MINOR } from '../../../services/platform/amounts.ts';
import { DAY_MS, HOUR_MS } from '../../../services/platform/durations.ts';
import { inputField } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { parseReais } from '../shell/reais-input.ts';
import type { View } from '../shell/view.ts';

/** The submitted values of a rejected form and their faults, by field. */
export interface Draft {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly faults: Readonly<Record<string, string>>;
}

/** Parses a positive amount in reais to centavos; undefined when malformed, zero or too large. */
export function amountMinorOf({ language }: View, text: string): bigint | undefined {
  const amountMinor = parseReais(language, text);
  return amountMinor && amountMinor <= MAX_AMOUNT_MINOR ? amountMinor : undefined;
}

/** Parses an integer within bounds; undefined when malformed or out of bounds. */
export function countOf(text: string, min: number, max: number): number | undefined {
  const count = /^\d{1,6}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return count >= min && count <= max ? count : undefined;
}

/** The start of the current hour, so that a resubmitted form is the same request. */
export const thisHourMs = (): number => Date.now() - (Date.now() % HOUR_MS);

/** A time a number of days ago; undefined for 0, which means now. */
export function daysAgo(days: number): Timestamp | undefined {
  return days === 0 ? undefined : timestampFromMs(thisHourMs() - days * DAY_MS);
}

/** A UUID in lower case; undefined when malformed. */
export function idOf(text: string | undefined): string | undefined {
  return text !== undefined && isUuid(text) ? text.toLowerCase() : undefined;
}

interface Typed {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly initial: string;
}

/** A text input, with the previously submitted value. */
export function typedField(
  draft: Draft | undefined,
  { name, label, hint, initial }: Typed,
  more: Html,
): Html {
  const about = { name, label, ...(hint && { hint }), fault: draft?.faults[name] };
  return inputField(about, draft?.values[name] ?? initial, html`autocomplete="off" ${more}`);
}

export function amountField(draft: Draft | undefined, typed: Typed): Html {
  return typedField(draft, typed, html`inputmode="decimal" maxlength="30"`);
}

export function daysField(draft: Draft | undefined, typed: Typed, max: number): Html {
  return typedField(draft, typed, html`type="number" min="0" max="${max}"`);
}

/** The faults by field; undefined when there are none. */
export function faultsOf(
  checks: Readonly<Record<string, string | false>>,
): Record<string, string> | undefined {
  const faults = Object.entries(checks).filter(([, fault]) => fault !== false) as [string, string][];
  return faults.length > 0 ? Object.fromEntries(faults) : undefined;
}
