import {
  type Balances,
  BlockReason,
  type Movement,
  MovementKind,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import type { Disputes } from '../disputes/find-disputes.ts';
import { amountColumn, dataTable, link, moment, money } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { fundsTexts } from './funds.texts.ts';
import { statementTexts } from './statement.texts.ts';

/** The ids of the causes of movements that may be disputes. */
export function possibleDisputes(movements: readonly Movement[]): (string | undefined)[] {
  return movements.filter(mayBeOfDispute).map(({ sourceId }) => sourceId);
}

/** Reviews and other teams also hold and deduct funds, but have no page. */
function mayBeOfDispute({ kind, blockReason }: Movement): boolean {
  return (
    blockReason === BlockReason.HOLD_OR_DISPUTE ||
    kind === MovementKind.DEDUCTION ||
    kind === MovementKind.DEDUCTION_REVERSAL ||
    kind === MovementKind.DEBT_COLLECTION
  );
}

/** A table of movements, oldest first: of the statement, or those of one sale, which have no balances. */
export function movementTable(
  view: View,
  movements: readonly Movement[],
  disputes: Disputes,
  { ofSale = false }: { readonly ofSale?: boolean } = {},
): Html {
  const t = textsFor(view, statementTexts);
  const { balance: balances } = textsFor(view, fundsTexts);
  const change = (label: string, amountOf: (change: Balances) => bigint) =>
    amountColumn<Movement>(view, label, (movement) => amountOf(movement.change!));
  const balance = {
    label: t.availableAfter,
    isNumber: true,
    cell: ({ balance: after }: Movement) => money(view, after!.availableAmountMinor),
  };
  const textOf = (movement: Movement) =>
    html`${movementText(view, movement, disputes)}${ofSale ? nothing : saleLink(view, movement)}`;
  return dataTable<Movement>(
    t.movementsCaption,
    [
      { label: t.at, cell: ({ occurredAt }) => moment(view, occurredAt) },
      { label: t.movement, isFreeText: true, cell: textOf },
      change(balances.available, ({ availableAmountMinor }) => availableAmountMinor),
      change(balances.scheduled, ({ scheduledAmountMinor }) => scheduledAmountMinor),
      change(balances.blocked, ({ blockedAmountMinor }) => blockedAmountMinor),
      ...(ofSale ? [] : [balance]),
    ],
    movements,
    t.none,
  );
}

function saleLink(view: View, { saleId, orderNumber }: Movement): Html {
  if (!saleId) return nothing;
  const t = textsFor(view, statementTexts);
  return html` <a href="${pathTo(view, `/funds/sales/${saleId}`)}">${orderNumber ? t.order(orderNumber) : t.sale}</a>`;
}

/** What a movement is, with a link to what caused it. */
function movementText(view: View, movement: Movement, disputes: Disputes): Html {
  const t = textsFor(view, statementTexts);
  const { kind, blockReason, sourceId, reason: deductionReason } = movement;
  const name = t.kinds[enumName(MovementKind, kind)];
  const cause = causePath(movement, disputes);
  const reason =
    blockReason === BlockReason.UNSPECIFIED
      ? nothing
      : html` <span class="reasons">${blockText(view, blockReason, sourceId!, disputes)}</span>`;
  return html`${cause ? link(view, cause, name) : name}${reason}${reasonOfDeduction(deductionReason)}`;
}

/** Why another team deducted an amount, in its words; nothing if it gave no reason. */
export function reasonOfDeduction(reason: string | undefined): Html {
  const text = reason?.trim();
  return text ? html` <span class="reasons words">${text}</span>` : nothing;
}

/** The page of what caused a movement; undefined when it has none. */
function causePath(movement: Movement, disputes: Disputes): string | undefined {
  const { kind, sourceId, releaseDate, blockReason } = movement;
  switch (kind) {
    case MovementKind.RELEASE:
      return `/funds/days/${releaseDate!}/sales`;
    case MovementKind.REFUND:
    case MovementKind.REFUND_REVERSAL:
      return `/refunds/${sourceId!}`;
    case MovementKind.ADVANCE:
      return `/advances/${sourceId!}`;
    case MovementKind.BLOCK:
    case MovementKind.UNBLOCK:
    case MovementKind.CONSUMPTION:
    case MovementKind.DEDUCTION:
    case MovementKind.DEDUCTION_REVERSAL:
    case MovementKind.DEBT_COLLECTION:
      return holderPath(blockReason, sourceId!, disputes);
    case MovementKind.DEBT_PAYMENT:
    case MovementKind.SALE:
    case MovementKind.UNSPECIFIED:
      return undefined;
    default:
      return kind satisfies never;
  }
}

/** Why a source blocks funds. A source other than a dispute is a hold by another team. */
export function blockText(view: View, reason: BlockReason, sourceId: string, disputes: Disputes): string {
  const t = textsFor(view, fundsTexts);
  if (reason === BlockReason.HOLD_OR_DISPUTE) return disputes.has(sourceId) ? t.dispute : t.hold;
  return t.reasons[enumName(BlockReason, reason)];
}

/** The page of what holds or takes funds; undefined for a review, which has none. */
export function holderPath(reason: BlockReason, sourceId: string, disputes: Disputes): string | undefined {
  if (reason === BlockReason.REFUND_IN_PROGRESS) return `/refunds/${sourceId}`;
  return disputes.has(sourceId) ? `/disputes/${sourceId}` : undefined;
}
