import type { CivilDate } from '../platform/civil-date.ts';
import type { Taking } from './allocation.ts';
import { isFree, type Part, reserve, settle } from './installment.ts';

/** A part as an advance was quoted on it. */
export interface QuotedPart {
  readonly partId: string;
  readonly version: bigint;
}

/** Parts reserved, or the first part that is not as quoted. */
export type Reserved = { readonly parts: readonly Part[] } | { readonly stalePartId: string };

/** Reserves the quoted parts, all or none: each as it was quoted, still free, and dated after today. */
export function reserveQuoted(
  quoted: readonly QuotedPart[],
  parts: readonly Part[],
  advanceRequestId: string,
  today: CivilDate,
): Reserved {
  const byId = new Map(parts.map((part) => [part.id, part]));
  const reserved: Part[] = [];
  for (const { partId, version } of quoted) {
    const part = byId.get(partId);
    if (part === undefined || part.version !== version || !isFree(part) || part.date <= today) {
      return { stalePartId: partId };
    }
    byId.delete(partId);
    reserved.push(reserve(part, advanceRequestId));
  }
  return { parts: reserved };
}

/** Pays reserved parts out, or names the first whose date has come: its own release would pay it twice. */
export function settleReserved(
  parts: readonly Part[],
  today: CivilDate,
): { takings: readonly Taking[] } | { duePart: Part } {
  const duePart = parts.find((part) => part.date <= today);
  if (duePart !== undefined) return { duePart };
  const takings = parts.map((before) => {
    return { before, after: settle(before), amountMinor: before.reservation?.amountMinor ?? 0n };
  });
  return { takings };
}
