import type { Logger } from 'pino';
import { isSuccess } from '../deliveries/delivery.ts';
import { deliveryLogFields } from '../deliveries/delivery-log-fields.ts';
import type { PlannedReport } from './plan-reports.ts';

/**
 * Logs one line per attempt: the history of a delivery that does not succeed at once. A first attempt that succeeds
 * is logged at debug level only.
 */
export function logReports(logger: Logger, decided: readonly PlannedReport[]): void {
  for (const planned of decided) {
    const { change, report, row } = planned;
    // The report is already known.
    if (!change) continue;
    const fields = logFieldsOf(planned);
    if (report.generation !== row.generation) {
      const message =
        'the attempt does not count for the subscription, which was disabled or got a new URL since';
      logger.info(fields, message);
    }
    if (!('result' in report.outcome)) logger.debug(fields, 'an attempt of a delivery is taking long');
    else if (row.ended_at) logger.info(fields, 'an attempt ended after its delivery');
    else if (isSuccess(report.outcome.result))
      logger[report.number === 1 ? 'debug' : 'info'](fields, 'a delivery succeeded');
    else if (change.status === 'EXHAUSTED') logger.warn(fields, 'a delivery is exhausted');
    else logger.info(fields, 'an attempt of a delivery failed');
  }
}

function logFieldsOf({ change, report, row }: PlannedReport) {
  const { httpStatus, failure } = 'result' in report.outcome ? report.outcome.result : {};
  return {
    ...deliveryLogFields(row),
    attempt: report.number,
    cause: failure ?? (httpStatus === undefined ? undefined : `HTTP ${httpStatus}`),
    status: change?.status,
    nextAttemptAt: change?.nextAttemptAt ?? undefined,
  };
}
