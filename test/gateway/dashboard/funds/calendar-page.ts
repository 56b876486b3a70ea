import type { HTMLElement } from 'node-html-parser';
import { AMOUNT_KINDS, type AmountKind } from '../../../../gateway/dashboard/funds/amounts.ts';

/** Centavos of the elements that say an amount. */
export const centavosOf = (elements: readonly HTMLElement[]) =>
  elements.reduce((sum, element) => sum + BigInt(element.getAttribute('value') ?? 'none'), 0n);

/** The sums of a month's cells, by kind. */
export function cellSums(document: HTMLElement): Record<AmountKind, bigint> {
  const sums = AMOUNT_KINDS.map((kind) => [
    kind,
    centavosOf(document.querySelectorAll(`table.month .amount.${kind} data`)),
  ]);
  return Object.fromEntries(sums);
}

/** The cell of a day. */
export function cellOf(document: HTMLElement, date: string): HTMLElement {
  const cell = document.querySelector(`table.month time[datetime="${date}"]`)?.closest('td');
  if (!cell) throw new Error(`no cell of ${date}`);
  return cell;
}
