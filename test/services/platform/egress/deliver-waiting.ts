import type { Transport } from '@connectrpc/connect';
import { createClient } from '@connectrpc/connect';
import { DispatchService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { EnvironmentGuards } from '../../../../services/platform/egress/environment-guards.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { AttemptReporter } from '../../../../workflows/webhooks/attempt-reporter.ts';
import { type AttemptOutcome, makeAttempts } from '../../../../workflows/webhooks/make-attempts.ts';
import { OpenAttempts } from '../../../../workflows/webhooks/open-attempts.ts';

/** Makes the first attempt of everything that waits, as the worker does: claimed, sent by these guards, reported. */
export async function deliverWaiting(
  transport: Transport,
  guards: EnvironmentGuards,
): Promise<AttemptOutcome[]> {
  const dispatch = createClient(DispatchService, transport);
  const logger = createLogger('fatal');
  const attempts = new OpenAttempts({ guards, logger, limit: 1_000, attemptTimeoutMs: 15_000 });
  const reporter = new AttemptReporter({ dispatch, attempts, logger });
  const outcomes: AttemptOutcome[] = [];
  for (;;) {
    const { batches } = await dispatch.claimBatch({ waitMs: 0, maxDeliveries: 100 });
    if (batches.length === 0) return outcomes;
    for (const { id: batchId, deliveryIds } of batches) {
      const keys = deliveryIds.map((deliveryId) => ({ deliveryId, batchId }));
      outcomes.push(...(await makeAttempts({ dispatch, attempts, reporter, handOverAfterMs: 15_000 }, keys)));
    }
  }
}
