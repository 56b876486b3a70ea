import { BlockReason, type Movement, MovementKind } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import type { Disputes } from '../disputes/find-disputes.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { fundsTexts } from './funds.texts.ts';
import { statementTexts } from './statement.texts.ts';

/** The ids among which the disputes are that caused movements. */
export function possibleDisputes(movements: readonly Movement[]): (string | undefined)[] {
  return movements.filter(mayBeOfDispute).map(({ sourceId }) => sourceId);
}

/** Reviews and other teams hold and deduct funds, too, and have no page. */
function mayBeOfDispute({ kind, blockReason }: Movement): boolean {
  return (
    blockReason === BlockReason.HOLD_OR_DISPUTE ||
    kind === MovementKind.DEDUCTION ||
    kind === MovementKind.DEBT_COLLECTION
  );
}

/** What a movement is, with links to what caused it and to its sale. */
export function movementText(view: View, movement: Movement, disputes: Disputes): Html {
  const t = textsFor(view, statementTexts);
  const { kind, blockReason, saleId, orderNumber } = movement;
  const name = t.kinds[enumName(MovementKind, kind)];
  const cause = causePath(movement, disputes);
  const reason =
    blockReason === BlockReason.UNSPECIFIED
      ? nothing
      : html` <span class="reasons">${textsFor(view, fundsTexts).reasons[enumName(BlockReason, blockReason)]}</span>`;
  const sale = saleId
    ? html` <a href="${pathTo(view, `/funds/sales/${saleId}`)}">${orderNumber ? t.order(orderNumber) : t.sale}</a>`
    : nothing;
  return html`${cause ? html`<a href="${pathTo(view, cause)}">${name}</a>` : name}${reason}${sale}`;
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

/** The page of what holds or takes funds; undefined for a review, which has none. */
export function holderPath(reason: BlockReason, sourceId: string, disputes: Disputes): string | undefined {
  if (reason === BlockReason.REFUND_IN_PROGRESS) return `/refunds/${sourceId}`;
  return disputes.has(sourceId) ? `/disputes/${sourceId}` : undefined;
}
