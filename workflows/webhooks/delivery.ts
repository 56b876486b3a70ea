import { type Client, createClient, type Transport } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { DispatchService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { ATTEMPT_TIMEOUT_MS } from '../../services/contracts/webhooks/delivery-limits.ts';
import {
  closeGuards,
  createEnvironmentGuards,
  type EgressConfig,
} from '../../services/platform/egress/environment-guards.ts';
import { AttemptReporter } from './attempt-reporter.ts';
import { EagerAttempts } from './eager-attempts.ts';
import type { MakeAttemptsDeps } from './make-attempts.ts';
import { OpenAttempts } from './open-attempts.ts';

const HAND_OVER_AFTER_MS = 1_500;
/** Attempts in flight in one process, each of which takes about 100 KB with TLS. */
const OPEN_ATTEMPTS_LIMIT = 2_000;
const FINAL_REPORTS_MS = 2_000;

/** The delivery machinery of this process; it outlives connections to Temporal. */
export interface Delivery extends MakeAttemptsDeps {
  readonly dispatch: Client<typeof DispatchService>;
  readonly eagerAttempts: EagerAttempts;
  /** Waits until all attempts have ended and are reported; aborts those that exceed their timeout. */
  close(): Promise<void>;
}

/** @throws an Error that names WEBHOOK_EXTRA_CA when that file cannot be read. */
export function createDelivery(config: EgressConfig, transport: Transport, logger: Logger): Delivery {
  const dispatch = createClient(DispatchService, transport);
  const guards = createEnvironmentGuards(config);
  const attempts = new OpenAttempts({
    guards,
    logger,
    limit: OPEN_ATTEMPTS_LIMIT,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  });
  const reporter = new AttemptReporter({ dispatch, attempts, logger });
  const deps = { dispatch, attempts, reporter, handOverAfterMs: HAND_OVER_AFTER_MS };
  return {
    ...deps,
    eagerAttempts: new EagerAttempts(deps),
    async close() {
      await attempts.drain(ATTEMPT_TIMEOUT_MS);
      attempts.abort();
      await attempts.drain(FINAL_REPORTS_MS);
      await closeGuards(guards);
    },
  };
}
