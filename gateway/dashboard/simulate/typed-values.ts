import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { validate as isUuid } from 'uuid';
import { field } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { MAX_AMOUNT_MINOR, parseReais } from '../shell/reais-input.ts';
import type { View } from '../shell/view.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What somebody typed into a form, and what is wrong with it, by the fields' names. */
export interface Draft {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly faults: Readonly<Record<string, string>>;
}

/** An amount of reais as people of a language write it, in centavos; undefined for none, nothing and too much. */
export function amountMinorOf({ language }: View, text: string): bigint | undefined {
  const amountMinor = parseReais(language, text);
  return amountMinor && amountMinor <= MAX_AMOUNT_MINOR ? amountMinor : undefined;
}

/** A whole number within bounds; undefined for what is none. */
export function countOf(text: string, least: number, most: number): number | undefined {
  const count = /^\d{1,6}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return count >= least && count <= most ? count : undefined;
}

/** The beginning of this hour: a form that is sent twice asks for the same. */
export const thisHourMs = (): number => Date.now() - (Date.now() % HOUR_MS);

/** When something happened that is said to be so many days ago; undefined for what happens now. */
export function daysAgo(days: number): Timestamp | undefined {
  return days === 0 ? undefined : timestampFromMs(thisHourMs() - days * DAY_MS);
}

/** An id, in the one way in which ids are written; undefined for what is none. */
export function idOf(text: string | undefined): string | undefined {
  return text !== undefined && isUuid(text) ? text.toLowerCase() : undefined;
}

interface Typed {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** Stands there until somebody types something else. */
  readonly initial: string;
}

/** A field of a line, with what was typed there before. */
export function typedField(
  draft: Draft | undefined,
  { name, label, hint, initial }: Typed,
  more: Html = nothing,
): Html {
  return field({ name, label, ...(hint && { hint }), fault: draft?.faults[name] }, (attributes) => {
    return html`<input ${attributes} value="${draft?.values[name] ?? initial}" autocomplete="off" ${more}>`;
  });
}

/** A field of an amount in reais. */
export function amountField(draft: Draft | undefined, typed: Typed): Html {
  return typedField(draft, typed, html`inputmode="decimal" maxlength="30"`);
}

/** A field of days ago. */
export function daysField(draft: Draft | undefined, typed: Typed, most: number): Html {
  return typedField(draft, typed, html`type="number" min="0" max="${String(most)}"`);
}

/** Faults by field; undefined when there are none. */
export function faultsOf(
  checks: Readonly<Record<string, string | false>>,
): Record<string, string> | undefined {
  const faults = Object.entries(checks).filter(([, fault]) => fault !== false) as [string, string][];
  return faults.length > 0 ? Object.fromEntries(faults) : undefined;
}
