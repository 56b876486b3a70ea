import type { HandlerContext } from '@connectrpc/connect';
import type {
  ExportMovementsRequest,
  ExportMovementsResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { dateRangeOf } from '../../platform/reads/date-range.ts';
import { type Exports, everyPage } from '../../platform/reads/exports.ts';
import { balancesMessage, balancesOf, movementMessages } from './movement.message.ts';
import { movementOrder, selectMovements, selectStatement } from './movement.queries.ts';

/** Streams the statement of a range as it is at one moment: opening balance, movements, closing balance. */
export function exportMovements(
  exports: Exports,
  request: ExportMovementsRequest,
  context: HandlerContext,
): AsyncGenerator<ExportMovementsResponse> {
  const range = dateRangeOf(request);
  return exports.run(request, context, async function* (read, tenant) {
    const noRows = { after: undefined, afterTie: undefined, limit: 0, totals: undefined };
    const [statement] = await read(selectStatement({ ...tenant, ...range, ...noRows }));
    let balance = balancesOf(statement!.opening);
    yield { ...response(), openingBalance: balancesMessage(balance) };
    const pages = everyPage(read, movementOrder, (page) => selectMovements({ ...tenant, ...range, ...page }));
    for await (const rows of pages) {
      const { movements, after } = movementMessages(rows, balance);
      balance = after;
      yield { ...response(), movements };
    }
    yield { ...response(), closingBalance: balancesMessage(balancesOf(statement!.closing)) };
  });
}

const response = (): ExportMovementsResponse => ({
  $typeName: 'payments.funds.v1.ExportMovementsResponse',
  movements: [],
});
