import type { HandlerContext } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type {
  RefuseAdvanceRequest,
  RefuseAdvanceResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { notifyOfOutcome } from '../contracts/accounts/notify-contact.contract.ts';
import * as advanceRefusal from '../contracts/advances/advance-refusal.contract.ts';
import { callFor, requestIdOf } from '../platform/rpc/call-context.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { tenantOf } from '../platform/tenant.ts';
import { publishEvent } from './advance.event.ts';
import { storedAdvanceRequestMessage } from './advance.message.ts';
import { momentAt, refuse } from './advance-request.ts';
import { lockRequest, storeChanges } from './advance-store.ts';
import { type AdvanceDependencies, reservationRequest } from './reservation-request.ts';

/**
 * PENDING_REVIEW or APPROVED to REFUSED, then frees the installments in funds. If funds cannot be reached, the refusal
 * still succeeds: the workflow that it starts frees them too.
 */
export async function refuseAdvance(
  { writes, funds, logger }: AdvanceDependencies & { readonly logger: Logger },
  request: RefuseAdvanceRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  const refused = await writes.run<typeof RefuseAdvanceResponseSchema>(request, context, async (tx) => {
    const row = await lockRequest(tx, request.advanceRequestId);
    storeChanges(tx, row, refuse(row, momentAt(at), request.reason));
    await publishEvent(tx, 'advance.refused.v1', row, row.reviewedAt ?? at);
    await tx.command(advanceRefusal.startCommand({ ...tx.tenant, advanceRequestId: row.id }));
    await notifyOfOutcome(tx, { kind: 'ADVANCE_REFUSED', subjectId: row.id }, row.reviewedAt ?? at);
    return { advanceRequest: storedAdvanceRequestMessage(row) };
  });
  await funds.freeReservation(reservationRequest(request), callFor(context)).catch((error: unknown) => {
    const { advanceRequestId, merchantId } = request;
    const { environment } = tenantOf(request);
    const message = 'could not free the installments of a refused advance; its workflow will';
    const call = { advanceRequestId, merchantId, environment, requestId: requestIdOf(context) };
    logger.warn({ err: error, ...call }, message);
  });
  return refused;
}
