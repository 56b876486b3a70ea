import { randomUUID } from 'node:crypto';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  ProviderOutcome,
  RefundCaseService,
  RefundCaseStatus,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DAY_MS } from '../../services/platform/durations.ts';
import { pagesOf } from '../../services/platform/rpc/pages-of.ts';
import type { TenantFields } from '../../services/platform/tenant.ts';
import type { DataFolder } from '../data-folder.ts';
import { DEMO_REFUND_PREFIX } from './data/demo-refund-steps.ts';

/** When the last reports were made, in ISO 8601. */
const FILE = 'demo-reported-at';

export interface ProviderReportOptions {
  readonly folder: DataFolder;
  /** Its caller needs refunds:read and refunds:write. */
  readonly transport: Transport;
  readonly merchants: readonly string[];
  readonly silentAfterMs: number;
  readonly logger: Logger;
}

const MAX_INTERVAL_MS = DAY_MS;

/**
 * Reports four times per `silentAfterMs` that the provider still works on the PROCESSING refunds of the demo data, so
 * that they raise no alert, however old they are. The refunds do not change. Reports now, unless an earlier start has
 * done so recently. Returns a function that stops it.
 */
export async function startProviderReports(options: ProviderReportOptions): Promise<() => void> {
  const { folder, silentAfterMs, logger } = options;
  const intervalMs = Math.min(Math.ceil(silentAfterMs / 4), MAX_INTERVAL_MS);
  const report = () =>
    reportAll(options).catch((error: unknown) =>
      logger.warn({ err: error }, 'could not report the results of the demo refunds'),
    );
  const last = Date.parse(folder.read(FILE) ?? '') || 0;
  if (Date.now() - last >= intervalMs) await report();
  const timer = setInterval(() => void report(), intervalMs);
  return () => clearInterval(timer);
}

async function reportAll({ folder, transport, merchants }: ProviderReportOptions): Promise<void> {
  const refunds = createClient(RefundCaseService, transport);
  for (const merchantId of merchants) {
    for (const environment of [Environment.LIVE, Environment.TEST]) {
      await reportMerchant(refunds, { merchantId, environment });
    }
  }
  folder.write(FILE, new Date().toISOString());
}

async function reportMerchant(
  refunds: Client<typeof RefundCaseService>,
  tenant: TenantFields,
): Promise<void> {
  const processing = { ...tenant, status: RefundCaseStatus.PROCESSING };
  for await (const { refundCases } of pagesOf((page) =>
    refunds.listRefundCases({ ...processing, ...page }),
  )) {
    for (const { id: refundCaseId, provider } of refundCases) {
      if (!provider?.refundId?.startsWith(DEMO_REFUND_PREFIX)) continue;
      const outcome = ProviderOutcome.SUBMITTED;
      const write = { ...tenant, idempotencyKey: randomUUID() };
      await refunds.recordProviderOutcome({ ...write, refundCaseId, outcome });
    }
  }
}
