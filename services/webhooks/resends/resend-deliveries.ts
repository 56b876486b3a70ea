import type { HandlerContext } from '@connectrpc/connect';
import { NIL, v7 as uuidv7 } from 'uuid';
import type {
  ResendDeliveriesRequest,
  ResendDeliveriesResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { NamedParameters } from '../../platform/database/named-sql.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { DeliveryDependencies } from '../deliveries/delivery-dependencies.ts';
import { requireEvent } from '../events/require-event.ts';
import { requireEnabled } from '../subscriptions/subscription.ts';
import { readSubscription } from '../subscriptions/subscription-store.ts';
import { ResendEntity, type ResendRow } from './resend.entity.ts';
import { storedResendMessage } from './resend.message.ts';
import { candidateParameters, isSelected, isWanted, TARGET } from './resend-candidates.sql.ts';
import { selectionOf, withMissedEvents } from './resend-selection.ts';
import { requireBelowResendLimit, startResendWorkflow } from './resend-store.ts';

/** Starts a resend; its workflow creates the deliveries. */
export function resendDeliveries(
  { writes, link }: DeliveryDependencies,
  request: ResendDeliveriesRequest,
  context: HandlerContext,
) {
  return writes.run<typeof ResendDeliveriesResponseSchema>(request, context, async (tx) => {
    const now = new Date();
    const subscriptionId = request.subscriptionId?.toLowerCase() ?? null;
    const execute = <Row>(sql: string, parameters: NamedParameters) => tx.execute<Row>(sql, parameters);
    const selection = await withMissedEvents(execute, selectionOf(request, now));
    if (subscriptionId !== null) requireEnabled((await readSubscription(tx, subscriptionId)).state);
    if (selection.eventId !== null) await requireEvent(execute, selection.eventId);
    await requireBelowResendLimit(tx);
    const resend = tx.create(ResendEntity, {
      ...selection,
      id: uuidv7(),
      subscriptionId,
      // Missed events are sent once, however often they are requested.
      onlyFailed: request.onlyFailed || selection.missedFrom !== null,
      skipNeverSent: request.skipNeverSent,
      state: 'RUNNING',
      requestId: tx.requestId,
      createdAt: now,
      endedAt: null,
      afterSubscriptionId: NIL,
      expectedCount: 0n,
      madeCount: 0n,
      succeededCount: 0n,
      exhaustedCount: 0n,
      canceledCount: 0n,
      openIds: [],
    });
    resend.expectedCount = await countCandidates(tx, resend);
    await tx.flush();
    await startResendWorkflow(tx, resend);
    return { resend: storedResendMessage(resend, link) };
  });
}

/** Bounds the time that counting takes, while the caller waits. */
const COUNT_LIMIT = 50_000;

async function countCandidates(tx: TenantTransaction, resend: ResendRow): Promise<bigint> {
  const [row] = await tx.execute<{ count: string }>(
    `select count(*) as count
       from (select id, type from webhooks.event where ${isSelected(resend)} limit ${COUNT_LIMIT}) e
       join webhooks.subscription s on ${TARGET} and ${isWanted(resend)}`,
    candidateParameters(resend),
  );
  return BigInt(row!.count);
}
