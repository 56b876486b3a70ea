import { BlockReason, type Movement, MovementKind } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { fundsTexts } from './funds.texts.ts';
import { statementTexts } from './statement.texts.ts';

/** What a movement is, with links to what caused it and to its sale. */
export function movementText(view: View, movement: Movement): Html {
  const t = textsFor(view, statementTexts);
  const { kind, blockReason, saleId, orderNumber } = movement;
  const name = t.kinds[enumName(MovementKind, kind)];
  const cause = causePath(movement);
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
function causePath({ kind, sourceId, releaseDate, blockReason }: Movement): string | undefined {
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
      return blockReason === BlockReason.REFUND_IN_PROGRESS ? `/refunds/${sourceId!}` : undefined;
    case MovementKind.SALE:
    case MovementKind.DEDUCTION:
    case MovementKind.DEBT_COLLECTION:
    case MovementKind.UNSPECIFIED:
      return undefined;
    default:
      return kind satisfies never;
  }
}
