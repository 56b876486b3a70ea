import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import {
  type AttemptAnswer as AttemptAnswerMessage,
  AttemptFailure,
  type AttemptOutcome,
  type AttemptReport,
  type Batch,
  type ClaimBatchResponse,
  DeliveryStatus,
  type RetryStart,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { enumName } from '../../platform/enum-name.ts';
import { invalidArgument } from '../../platform/errors.ts';
import { environmentEnum } from '../../platform/tenant.ts';
import { timestampOf } from '../../platform/timestamps.ts';
import type { AttemptResult, ReportedAttempt } from '../deliveries/delivery.ts';
import type { RecordedDelivery } from './attempt-recorder.ts';
import type { ClaimedWork } from './claim-batch.ts';
import type { ClaimedDelivery } from './claimed-delivery.ts';
import type { AttemptAnswer } from './get-attempt.ts';
import type { RetryRow } from './requeue-expired.ts';

/** The response for claimed work. */
export function claimMessage({ deliveries, retries }: ClaimedWork): ClaimBatchResponse {
  const batches = new Map<string, ClaimedDelivery[]>();
  for (const delivery of deliveries) {
    const batch = batches.get(delivery.batch_id);
    if (batch) batch.push(delivery);
    else batches.set(delivery.batch_id, [delivery]);
  }
  return {
    $typeName: 'payments.webhooks.v1.ClaimBatchResponse',
    batches: [...batches].map(([id, members]) => batchMessage(id, members)),
    retries: retries.map(retryMessage),
  };
}

function batchMessage(id: string, deliveries: readonly ClaimedDelivery[]): Batch {
  const distinct = (of: (delivery: ClaimedDelivery) => string) => [...new Set(deliveries.map(of))];
  const eventTypes = distinct(({ event_type }) => event_type);
  return {
    $typeName: 'payments.webhooks.v1.Batch',
    id,
    environment: environmentEnum(deliveries[0]!.environment),
    deliveryIds: deliveries.map((delivery) => delivery.id),
    merchantIds: distinct(({ merchant_id }) => merchant_id),
    subscriptionIds: distinct(({ subscription_id }) => subscription_id),
    requestIds: distinct(({ request_id }) => request_id),
    eventType: eventTypes.length === 1 ? eventTypes[0] : undefined,
  };
}

function retryMessage(row: RetryRow): RetryStart {
  return {
    $typeName: 'payments.webhooks.v1.RetryStart',
    deliveryId: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    subscriptionId: row.subscription_id,
    requestId: row.request_id,
    eventType: row.event_type,
  };
}

/** The message that says what to do with one delivery. */
export function answerMessage(deliveryId: string, answer: AttemptAnswer): AttemptAnswerMessage {
  return {
    $typeName: 'payments.webhooks.v1.AttemptAnswer',
    deliveryId,
    answer: answerCase(answer),
  };
}

function answerCase(answer: AttemptAnswer): AttemptAnswerMessage['answer'] {
  switch (answer.kind) {
    case 'SEND': {
      const { row, secrets } = answer;
      return {
        case: 'send',
        value: {
          $typeName: 'payments.webhooks.v1.AttemptSend',
          attemptNumber: row.attempt_count + 1,
          generation: row.generation,
          subscriptionId: row.subscription_id,
          environment: environmentEnum(row.environment),
          url: row.url,
          eventId: row.event_id,
          body: new TextEncoder().encode(row.body),
          signingSecrets: [...secrets],
        },
      };
    }
    case 'SKIP':
      return {
        case: 'skip',
        value: {
          $typeName: 'payments.webhooks.v1.AttemptSkip',
          status: DeliveryStatus[answer.status],
          retry: answer.retry && retryMessage(answer.retry),
        },
      };
    case 'NOT_NOW':
      return {
        case: 'notNow',
        value: {
          $typeName: 'payments.webhooks.v1.AttemptNotNow',
          delayMs: answer.delayMs,
          attemptNumber: answer.last?.number,
          httpStatus: answer.last?.httpStatus ?? undefined,
          failure: answer.last?.failure ? AttemptFailure[answer.last.failure] : undefined,
        },
      };
    default:
      return answer satisfies never;
  }
}

/** Converts a report. INVALID_ARGUMENT (ATTEMPT_REPORT) if it contradicts itself. */
export function reportedAttempt(report: AttemptReport): ReportedAttempt {
  return {
    deliveryId: report.deliveryId.toLowerCase(),
    number: report.attemptNumber,
    generation: report.generation,
    startedAt: requireTime(report.startedAt, 'started_at'),
    outcome: report.stillRunning
      ? { deadlineAt: requireTime(report.deadlineAt, 'deadline_at') }
      : { result: resultOf(report) },
  };
}

function resultOf(report: AttemptReport): AttemptResult {
  const { latencyMs = 0, httpStatus, failure, responseExcerpt, retryAfterMs } = report;
  if ((httpStatus === undefined) === (failure === undefined)) {
    throw invalidReport('an ended attempt has either http_status or failure');
  }
  const startedAt = requireTime(report.startedAt, 'started_at');
  return {
    // A worker's clock may be ahead.
    endedAt: new Date(Math.min(startedAt.getTime() + latencyMs, Date.now())),
    latencyMs: report.latencyMs,
    httpStatus,
    failure: enumName(AttemptFailure, failure),
    responseExcerpt,
    retryAfterMs: retryAfterMs === undefined ? undefined : Number(retryAfterMs),
  };
}

function requireTime(time: Timestamp | undefined, field: string): Date {
  if (!time) throw invalidReport(`${field} is required`);
  return timestampDate(time);
}

const invalidReport = (message: string) =>
  invalidArgument('ATTEMPT_REPORT', `reports: ${message}`, { field: 'reports' });

/** The message that says what comes next for a delivery. */
export function outcomeMessage(
  deliveryId: string,
  recorded: RecordedDelivery | undefined,
  retry: RetryRow | undefined,
): AttemptOutcome {
  return {
    $typeName: 'payments.webhooks.v1.AttemptOutcome',
    deliveryId,
    status: DeliveryStatus[recorded?.status ?? 'CANCELED'],
    nextAttemptAt: timestampOf(recorded?.nextAttemptAt),
    retry: retry && retryMessage(retry),
  };
}
