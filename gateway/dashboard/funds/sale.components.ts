import { type Sale, SaleMethod, SaleStatus } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import { badge, link, shortenedId } from '../shell/components.ts';
import type { Html } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { salesTexts } from './sales.texts.ts';

/** The statuses in the order of a drop-down. */
export const SALE_STATES = ['SCHEDULED', 'PARTIALLY_RELEASED', 'RELEASED', 'BLOCKED'] as const;

const TONES = { SCHEDULED: 'busy', PARTIALLY_RELEASED: 'busy', RELEASED: 'good', BLOCKED: 'bad' } as const;

export function saleBadge(view: View, { status }: Sale): Html {
  const name = enumName(SaleStatus, status);
  return badge(TONES[name], textsFor(view, salesTexts).states[name]);
}

/** A link to a sale, by its order's number if it has one. */
export function saleLink(view: View, { id, orderNumber }: Pick<Sale, 'id' | 'orderNumber'>): Html {
  const number = orderNumber?.trim();
  return number ? link(view, `/funds/sales/${id}`, number) : saleIdLink(view, id);
}

export function saleIdLink(view: View, id: string): Html {
  return link(view, `/funds/sales/${id}`, shortenedId(id));
}

export function methodText(view: View, { method, installments }: Sale): string {
  const t = textsFor(view, salesTexts);
  const name = t.methods[enumName(SaleMethod, method)];
  return installments > 1 ? t.inInstallments(name, view.format.number(installments)) : name;
}

/** Which of a sale's installments: 2 of 12. */
export function installmentText(view: View, { installments }: Sale, number: number): string {
  const { format } = view;
  return textsFor(view, salesTexts).installmentOf(format.number(number), format.number(installments));
}
