import type { Client, HandlerContext } from '@connectrpc/connect';
import {
  AdvanceAction,
  type AdvanceExposure,
  type AdvanceQueueItem,
  AdvanceRequestStatus,
  type ListAdvanceQueueRequest,
  type ListAdvanceQueueResponse,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import type { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { startOfDay } from '../../platform/civil-date.ts';
import { enumName } from '../../platform/enum-name.ts';
import { merchantFilterOf } from '../../platform/reads/merchant-filter.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { readFor } from '../../platform/rpc/call-context.ts';
import { environmentEnum } from '../../platform/tenant.ts';
import { timestampOf } from '../../platform/timestamps.ts';
import { advanceRequestMessage } from '../advance.message.ts';
import type { AdvanceRequestReadRow } from '../advance.queries.ts';
import { advanceQueueOrder, selectAdvanceQueue } from './queue.queries.ts';

/**
 * A page of requests of all merchants to review or pay out, oldest first, with what is to be done next and what the merchant
 * owes.
 */
export async function listAdvanceQueue(
  pagination: Pagination,
  funds: Client<typeof FundsService>,
  request: ListAdvanceQueueRequest,
  context: HandlerContext,
): Promise<ListAdvanceQueueResponse> {
  const filters = { ...merchantFilterOf(request), status: enumName(AdvanceRequestStatus, request.status) };
  const scope = { list: 'advance-queue', filters, order: advanceQueueOrder };
  const page = await pagination.list(scope, request, (range) => selectAdvanceQueue({ ...filters, ...range }));
  const exposures = await exposuresOf(funds, page.rows, context);
  return {
    $typeName: 'payments.advances.v1.ListAdvanceQueueResponse',
    items: page.rows.map((row) => itemOf(row, exposures.get(row.id))),
    nextPageToken: page.nextPageToken,
  };
}

/** What the merchants of requests owe, by request; without those of whom a sum is too large for a message. */
async function exposuresOf(
  funds: Client<typeof FundsService>,
  rows: readonly AdvanceRequestReadRow[],
  context: HandlerContext,
): Promise<ReadonlyMap<string, AdvanceExposure>> {
  if (rows.length === 0) return new Map();
  const advances = rows.map(({ merchant_id, environment, id }) => ({
    merchantId: merchant_id,
    environment: environmentEnum(environment),
    advanceRequestId: id,
  }));
  const { exposures } = await funds.getAdvanceExposures({ advances }, readFor(context));
  return new Map(
    // Field by field: fields that a newer release of funds adds have other numbers in the message of this area.
    exposures.map((exposure) => [
      exposure.advanceRequestId,
      {
        $typeName: 'payments.advances.v1.AdvanceExposure',
        availableAmountMinor: exposure.availableAmountMinor,
        openDebtsAmountMinor: exposure.openDebtsAmountMinor,
        disputeIds: exposure.disputeIds,
        kycPending: exposure.kycPending,
        complianceHold: exposure.complianceHold,
      },
    ]),
  );
}

function itemOf(row: AdvanceRequestReadRow, exposure: AdvanceExposure | undefined): AdvanceQueueItem {
  return {
    $typeName: 'payments.advances.v1.AdvanceQueueItem',
    advanceRequest: advanceRequestMessage(row),
    nextAction: AdvanceAction[row.status === 'APPROVED' ? 'RELEASE' : 'REVIEW'],
    waitingSince: row.reviewed_at ?? row.requested_at,
    dueAt: timestampOf(startOfDay(row.first_date)),
    exposure,
  };
}
