import type { Transport } from '@connectrpc/connect';
import { createClient } from '@connectrpc/connect';
import { DispatchService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { EnvironmentGuards } from '../../../../services/platform/egress/environment-guards.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { AttemptReporter } from '../../../../workflows/webhooks/attempt-reporter.ts';
import { makeAttempts, type Turn } from '../../../../workflows/webhooks/make-attempts.ts';
import { OpenAttempts } from '../../../../workflows/webhooks/open-attempts.ts';

/** Makes the first attempt of everything that waits, as the worker does: claimed, sent by these guards, reported. */
export async function deliverWaiting(transport: Transport, guards: EnvironmentGuards): Promise<Turn[]> {
  const dispatch = createClient(DispatchService, transport);
  const logger = createLogger('fatal');
  const attempts = new OpenAttempts({ guards, logger, limit: 1_000, attemptTimeoutMs: 15_000 });
  const reporter = new AttemptReporter({ dispatch, attempts, logger });
  const turns: Turn[] = [];
  for (;;) {
    const { batches } = await dispatch.claimBatch({ waitMs: 0, maxDeliveries: 100 });
    if (batches.length === 0) return turns;
    for (const { id: batchId, deliveryIds } of batches) {
      const keys = deliveryIds.map((deliveryId) => ({ deliveryId, batchId }));
      turns.push(...(await makeAttempts({ dispatch, attempts, reporter, handOverAfterMs: 15_000 }, keys)));
    }
  }
}
