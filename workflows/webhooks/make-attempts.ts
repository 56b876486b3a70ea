import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import {
  type AttemptAnswer,
  AttemptFailure,
  type AttemptNotNow,
  type AttemptOutcome as AttemptOutcomeMessage,
  DeliveryStatus,
  type DispatchService,
  type RetryStart,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { LOST_AFTER_MS } from '../../services/contracts/webhooks/delivery-limits.ts';
import { attemptReport } from './attempt-report.ts';
import type { AttemptReporter } from './attempt-reporter.ts';
import type { OpenAttempt, OpenAttempts } from './open-attempts.ts';
import type { AttemptRecord } from './send-attempt.ts';

export interface MakeAttemptsDeps {
  readonly dispatch: Client<typeof DispatchService>;
  readonly attempts: OpenAttempts;
  readonly reporter: AttemptReporter;
  /** An attempt that takes longer ends outside the activity. */
  readonly handOverAfterMs: number;
}

export interface AttemptKey {
  readonly deliveryId: string;
  /** The batch it belongs to; absent in a retry workflow. */
  readonly batchId?: string;
  /** Makes the next attempt of a retry due. */
  readonly now?: boolean;
}

/** The state of a delivery after this process tried to make its next attempt. */
export interface AttemptOutcome {
  /** The delivery's status; undefined when the attempt was not due. */
  readonly status: DeliveryStatus | undefined;
  /** Set when the delivery continues in a retry workflow. */
  readonly retry: RetryStart | undefined;
  /** Until the next attempt, if there is one. */
  readonly delayMs: number;
  /** For people, and never the receiver's words: `attempt 2: HTTP 503`. */
  readonly statusMessage: string;
}

/** Attempts that have ended by then are reported before the rest of their batch. */
const EARLY_REPORT_MS = 100;
/** A retry workflow whose open delivery must not be sent asks again after this time. */
const SKIPPED_RECHECK_MS = 30_000;
const RPC_TIMEOUT_MS = 10_000;

/**
 * Makes the next attempt of up to 100 deliveries: asks what to send, sends in parallel, and reports. Waits for no
 * attempt longer than the hand-over time. Throws the ConnectError of services that are unavailable; what was sent by
 * then is still reported.
 */
export async function makeAttempts(
  deps: MakeAttemptsDeps,
  keys: readonly AttemptKey[],
): Promise<AttemptOutcome[]> {
  const { answers, started } = await startAttempts(deps, keys);
  const outcomes = await reportAttempts(deps, started);
  return answers.map((answer) => outcomes.get(answer.deliveryId) ?? outcomeWithoutAttempt(answer));
}

async function startAttempts({ dispatch, attempts }: MakeAttemptsDeps, keys: readonly AttemptKey[]) {
  const release = attempts.reserve(keys.length);
  try {
    const { answers } = await dispatch.getAttempt({ attempts: [...keys] }, { timeoutMs: RPC_TIMEOUT_MS });
    const started = answers.flatMap(({ deliveryId, answer }) =>
      answer.case === 'send' ? [attempts.start(deliveryId, answer.value)] : [],
    );
    return { answers, started };
  } finally {
    release();
  }
}

async function reportAttempts(
  deps: MakeAttemptsDeps,
  started: readonly OpenAttempt[],
): Promise<Map<string, AttemptOutcome>> {
  const handOverAt = performance.now() + deps.handOverAfterMs;
  const outcomes = new Map<string, AttemptOutcome>();
  try {
    // An attempt that has been answered must not count as in flight until the slowest of its batch ends.
    const early = await recordsWithin(started, Math.min(EARLY_REPORT_MS, deps.handOverAfterMs));
    const rest = started.filter((attempt) => !early.has(attempt));
    await report(deps, [...early.keys()], early, outcomes);
    const restMs = Math.max(handOverAt - performance.now(), 0);
    await report(deps, rest, await recordsWithin(rest, restMs), outcomes);
    return outcomes;
  } catch (error) {
    deps.reporter.reportLater(started.filter(({ deliveryId }) => !outcomes.has(deliveryId)));
    throw error;
  }
}

type Records = ReadonlyMap<OpenAttempt, AttemptRecord>;

/** Reports attempts, those without a record as still running, and adds their outcomes. */
async function report(
  { attempts, reporter }: MakeAttemptsDeps,
  started: readonly OpenAttempt[],
  records: Records,
  outcomes: Map<string, AttemptOutcome>,
): Promise<void> {
  const reported = await reporter.report(
    started.map((attempt) => attemptReport(attempt, records.get(attempt))),
  );
  for (const [index, attempt] of started.entries()) {
    const record = records.get(attempt);
    if (record) attempts.close(attempt);
    outcomes.set(attempt.deliveryId, outcomeOfAttempt(attempt, record, reported[index]!));
  }
  reporter.reportLater(started.filter((attempt) => !records.has(attempt)));
}

/** The records of the attempts that end within the time. */
async function recordsWithin(started: readonly OpenAttempt[], waitMs: number): Promise<Records> {
  const allEnded = new AbortController();
  const late = delay(waitMs, undefined, { signal: allEnded.signal }).catch(() => undefined);
  const records = await Promise.all(
    started.map(async (attempt) => [attempt, await Promise.race([attempt.ended, late])] as const),
  );
  allEnded.abort();
  return new Map(records.filter((entry): entry is [OpenAttempt, AttemptRecord] => entry[1] !== undefined));
}

function outcomeOfAttempt(
  attempt: OpenAttempt,
  record: AttemptRecord | undefined,
  { status, retry, nextAttemptAt }: AttemptOutcomeMessage,
): AttemptOutcome {
  const nextMs = nextAttemptAt ? timestampMs(nextAttemptAt) : attempt.deadlineAt.getTime() + LOST_AFTER_MS;
  const result = record && (record.failureKind ?? `HTTP ${record.httpStatus}`);
  return {
    status,
    retry,
    delayMs: nextMs - Date.now(),
    statusMessage: messageOf(attempt.attemptNumber, result),
  };
}

/** @param result undefined while the attempt is in progress. */
const messageOf = (attemptNumber: number, result: string | undefined) =>
  `attempt ${attemptNumber}: ${result ?? 'in progress'}`;

function messageOfWait({ attemptNumber, httpStatus, failure }: AttemptNotNow): string {
  if (attemptNumber === undefined) return 'no attempt is due yet';
  if (failure !== undefined) return messageOf(attemptNumber, AttemptFailure[failure]);
  return messageOf(attemptNumber, httpStatus === undefined ? undefined : `HTTP ${httpStatus}`);
}

function outcomeWithoutAttempt({ answer }: AttemptAnswer): AttemptOutcome {
  switch (answer.case) {
    case 'skip': {
      const { status, retry } = answer.value;
      const statusMessage = `nothing to send: ${DeliveryStatus[status]}`;
      return { status, retry, delayMs: SKIPPED_RECHECK_MS, statusMessage };
    }
    case 'notNow': {
      const { delayMs } = answer.value;
      return { status: undefined, retry: undefined, delayMs, statusMessage: messageOfWait(answer.value) };
    }
    default:
      throw new TypeError('GetAttempt answered neither send nor skip nor not_now');
  }
}
