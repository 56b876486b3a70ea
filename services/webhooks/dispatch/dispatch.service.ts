import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import type { DispatchService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { AreaDependencies } from '../../platform/area.ts';
import { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import { callerOf, requestIdOf } from '../../platform/rpc/call-context.ts';
import { continueResend } from '../resends/continue-resend.ts';
import { applyRetention } from '../retention/apply-retention.ts';
import { PartitionsAhead } from '../retention/partitions.ts';
import { workflowLink } from '../workflow-link.ts';
import { AttemptRecorder } from './attempt-recorder.ts';
import { WorkClaims } from './claim-batch.ts';
import { answerMessage, claimMessage, outcomeMessage, reportedAttempt } from './dispatch.message.ts';
import { registerDispatchMetrics } from './dispatch-metrics.ts';
import { getAttempt } from './get-attempt.ts';
import { QueueUpkeep } from './queue-upkeep.ts';
import { reportAttempts } from './report-attempts.ts';

/** The RPCs of the worker. */
export function dispatchService(dependencies: AreaDependencies): ServiceImpl<typeof DispatchService> {
  const { config, database, writes, outboxSignal, workSignal, logger } = dependencies;
  const db = new CrossTenantDatabase(database);
  const schedules = { live: config.WEBHOOK_SCHEDULE_LIVE, test: config.WEBHOOK_SCHEDULE_SANDBOX };
  const settings = { schedules, retryLimit: config.WEBHOOK_RETRY_WORKFLOW_LIMIT, random: Math.random };
  const recorder = new AttemptRecorder({ db, writes, settings, outboxSignal, logger });
  const firstWaits = { live: schedules.live[0] ?? 0, test: schedules.test[0] ?? 0 };
  const claims = new WorkClaims({ db, recorder, writes, workSignal, firstWaits, logger });
  const resendDeps = { db, writes, outboxSignal, link: workflowLink(config) };
  const upkeep = new QueueUpkeep(db, logger);
  const attemptDeps = { db, recorder, keys: config.WEBHOOK_SECRET_KEYS, logger };
  const partitions = new PartitionsAhead(database, logger);
  const retention = { live: config.WEBHOOK_RETENTION_LIVE, test: config.WEBHOOK_RETENTION_SANDBOX };
  registerDispatchMetrics(db);
  return {
    claimBatch: async ({ waitMs, maxDeliveries, batchIds }, context) => {
      const { signal } = context;
      await partitions.ensure();
      const claim = { caller: callerName(context), requestId: requestIdOf(context), signal };
      const claimed = await claims.claim({ ...claim, waitMs, maxDeliveries, batchIds });
      upkeep.handled(claimed.deliveries.length);
      return claimMessage(claimed);
    },
    getAttempt: async ({ attempts }, context) => {
      const answers = await getAttempt(attemptDeps, callerName(context), attempts, requestIdOf(context));
      return {
        answers: answers.map((answer, index) => answerMessage(attempts[index]!.deliveryId, answer)),
      };
    },
    reportAttempts: async ({ reports }, context) => {
      const reported = reports.map(reportedAttempt);
      const { deliveries, retries } = await reportAttempts(attemptDeps, reported, requestIdOf(context));
      return {
        outcomes: reported.map(({ deliveryId: id }) =>
          outcomeMessage(id, deliveries.get(id), retries.get(id)),
        ),
      };
    },
    continueResend: (request, context) => continueResend(resendDeps, request, requestIdOf(context)),
    applyRetention: () => applyRetention({ database, db, partitions, retention, logger }),
  };
}

const callerName = (context: HandlerContext) => callerOf(context.values)?.name ?? '';
