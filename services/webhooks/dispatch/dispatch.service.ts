import type { ServiceImpl } from '@connectrpc/connect';
import type { DispatchService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { AreaDependencies } from '../../platform/area.ts';
import { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import { continueResend } from '../resends/continue-resend.ts';
import { applyRetention } from '../retention/apply-retention.ts';
import { workflowLink } from '../workflow-link.ts';
import { listDeliveryRecords } from './delivery-records.ts';
import { registerDispatchMetrics } from './dispatch-metrics.ts';
import { awaitAttempt, requestAttempt } from './retry-attempt.ts';

/** The RPCs of the worker. */
export function dispatchService(dependencies: AreaDependencies): ServiceImpl<typeof DispatchService> {
  const { config, database, writes, outboxSignal, logger, stopping } = dependencies;
  const db = new CrossTenantDatabase(database);
  const resendDeps = { db, writes, outboxSignal, link: workflowLink(config) };
  const retention = { live: config.WEBHOOK_RETENTION_LIVE, test: config.WEBHOOK_RETENTION_SANDBOX };
  registerDispatchMetrics(db);
  return {
    requestAttempt: (request) => requestAttempt(db, outboxSignal, request),
    awaitAttempt: (request, { signal }) => awaitAttempt(db, request, AbortSignal.any([signal, stopping])),
    listDeliveryRecords: (request) => listDeliveryRecords(db, request),
    continueResend: (request, context) => continueResend(resendDeps, request, context),
    applyRetention: () => applyRetention({ database, db, retention, logger }),
  };
}
