import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  AttemptFailure,
  type AttemptReportSchema,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { timestampOf } from '../../services/platform/timestamps.ts';
import type { OpenAttempt } from './open-attempts.ts';
import type { AttemptFailureKind, AttemptRecord } from './send-attempt.ts';

export type AttemptReportInit = MessageInitShape<typeof AttemptReportSchema>;

/** The report of an attempt; without a record, that it is still running, and its deadline. */
export function attemptReport(attempt: OpenAttempt, record: AttemptRecord | undefined): AttemptReportInit {
  const { deliveryId, attemptNumber, generation, startedAt, deadlineAt } = attempt;
  const shared = { deliveryId, attemptNumber, generation, startedAt: timestampOf(startedAt) };
  if (!record) return { ...shared, stillRunning: true, deadlineAt: timestampOf(deadlineAt) };
  const { latencyMs, httpStatus, failureKind, responseExcerpt, retryAfterMs } = record;
  return {
    ...shared,
    latencyMs,
    ...(httpStatus === undefined ? { failure: failureOf(failureKind) } : { httpStatus, responseExcerpt }),
    ...(retryAfterMs !== undefined && { retryAfterMs: BigInt(retryAfterMs) }),
  };
}

function failureOf(kind: AttemptFailureKind): AttemptFailure {
  switch (kind) {
    case 'DNS':
      return AttemptFailure.DNS;
    case 'CONNECT_TIMEOUT':
      return AttemptFailure.CONNECT_TIMEOUT;
    case 'CONNECTION_REFUSED':
      return AttemptFailure.CONNECTION_REFUSED;
    case 'UNREACHABLE':
      return AttemptFailure.UNREACHABLE;
    case 'PROXY':
      return AttemptFailure.PROXY;
    case 'CONNECTION_RESET':
      return AttemptFailure.CONNECTION_RESET;
    case 'TLS':
      return AttemptFailure.TLS;
    case 'TIMEOUT':
      return AttemptFailure.TIMEOUT;
    case 'EGRESS_DENIED':
      return AttemptFailure.EGRESS_DENIED;
    case 'PROTOCOL':
      return AttemptFailure.PROTOCOL;
    case 'ABORTED':
      return AttemptFailure.WORKER_LOST;
    default:
      return kind satisfies never;
  }
}
