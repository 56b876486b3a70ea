import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import {
  type AttemptAnswer,
  AttemptFailure,
  type AttemptNotNow,
  type AttemptOutcome,
  DeliveryStatus,
  type DispatchService,
  type RetryStart,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
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

/** What came of one delivery's turn. */
export interface Turn {
  /** What the delivery is now; undefined where its time had not come. */
  readonly status: DeliveryStatus | undefined;
  /** Where it goes on in a retry workflow. */
  readonly retry: RetryStart | undefined;
  /** Until its next turn, if it goes on. */
  readonly delayMs: number;
  /** For people, and never the receiver's words: `attempt 2: HTTP 503`. */
  readonly story: string;
}

/** What has ended by then is reported before the rest of its batch. */
const SOON_MS = 100;
/** An attempt that is not reported so long after its deadline counts as lost. */
const LOST_AFTER_MS = 5_000;
/** Who is told to leave an open delivery alone asks again after this time. */
const LEFT_ALONE_MS = 30_000;
const RPC_TIMEOUT_MS = 10_000;

/**
 * One turn of up to 100 deliveries: asks what to send, sends side by side, reports once. Waits for no attempt longer
 * than the hand-over time. Throws the ConnectError of services that are away; what was sent by then is still reported.
 */
export async function makeAttempts(deps: MakeAttemptsDeps, keys: readonly AttemptKey[]): Promise<Turn[]> {
  const { answers, begun } = await begin(deps, keys);
  const attempted = await finish(deps, begun);
  return answers.map((answer) => attempted.get(answer.deliveryId) ?? turnWithoutAttempt(answer));
}

async function begin({ dispatch, attempts }: MakeAttemptsDeps, keys: readonly AttemptKey[]) {
  const release = attempts.reserve(keys.length);
  try {
    const { answers } = await dispatch.getAttempt({ attempts: [...keys] }, { timeoutMs: RPC_TIMEOUT_MS });
    const begun = answers.flatMap(({ deliveryId, answer }) =>
      answer.case === 'send' ? [attempts.begin(deliveryId, answer.value)] : [],
    );
    return { answers, begun };
  } finally {
    release();
  }
}

async function finish(deps: MakeAttemptsDeps, begun: readonly OpenAttempt[]): Promise<Map<string, Turn>> {
  const handOverAt = performance.now() + deps.handOverAfterMs;
  const turns = new Map<string, Turn>();
  try {
    // What is answered counts as under way no longer than it is, whatever else is in the batch.
    const soon = await recordsInTime(begun, Math.min(SOON_MS, deps.handOverAfterMs));
    const rest = begun.filter((attempt) => !soon.has(attempt));
    await report(deps, [...soon.keys()], soon, turns);
    const restMs = Math.max(handOverAt - performance.now(), 0);
    await report(deps, rest, await recordsInTime(rest, restMs), turns);
    return turns;
  } catch (error) {
    deps.reporter.reportLater(begun.filter(({ deliveryId }) => !turns.has(deliveryId)));
    throw error;
  }
}

type Records = ReadonlyMap<OpenAttempt, AttemptRecord>;

/** Reports attempts, those without a record as still under way, and notes their turns. */
async function report(
  { attempts, reporter }: MakeAttemptsDeps,
  begun: readonly OpenAttempt[],
  records: Records,
  turns: Map<string, Turn>,
): Promise<void> {
  const outcomes = await reporter.report(
    begun.map((attempt) => attemptReport(attempt, records.get(attempt))),
  );
  for (const [index, attempt] of begun.entries()) {
    const record = records.get(attempt);
    if (record) attempts.close(attempt);
    turns.set(attempt.deliveryId, turnWithAttempt(attempt, record, outcomes[index]!));
  }
  reporter.reportLater(begun.filter((attempt) => !records.has(attempt)));
}

/** The records of the attempts that end in time. */
async function recordsInTime(begun: readonly OpenAttempt[], waitMs: number): Promise<Records> {
  const allEnded = new AbortController();
  const late = delay(waitMs, undefined, { signal: allEnded.signal }).catch(() => undefined);
  const records = await Promise.all(
    begun.map(async (attempt) => [attempt, await Promise.race([attempt.ended, late])] as const),
  );
  allEnded.abort();
  return new Map(records.filter((entry): entry is [OpenAttempt, AttemptRecord] => entry[1] !== undefined));
}

function turnWithAttempt(
  attempt: OpenAttempt,
  record: AttemptRecord | undefined,
  { status, retry, nextAttemptAt }: AttemptOutcome,
): Turn {
  const nextMs = nextAttemptAt ? timestampMs(nextAttemptAt) : attempt.deadlineAt.getTime() + LOST_AFTER_MS;
  const end = record && (record.failureKind ?? `HTTP ${record.httpStatus}`);
  return { status, retry, delayMs: nextMs - Date.now(), story: storyOf(attempt.attemptNumber, end) };
}

/** @param end undefined while it is under way. */
const storyOf = (attemptNumber: number, end: string | undefined) =>
  `attempt ${attemptNumber}: ${end ?? 'still under way'}`;

function storyOfWait({ attemptNumber, httpStatus, failure }: AttemptNotNow): string {
  if (attemptNumber === undefined) return 'nothing is due yet';
  if (failure !== undefined) return storyOf(attemptNumber, AttemptFailure[failure]);
  return storyOf(attemptNumber, httpStatus === undefined ? undefined : `HTTP ${httpStatus}`);
}

function turnWithoutAttempt({ answer }: AttemptAnswer): Turn {
  switch (answer.case) {
    case 'skip': {
      const { status, retry } = answer.value;
      return { status, retry, delayMs: LEFT_ALONE_MS, story: `nothing to send: ${DeliveryStatus[status]}` };
    }
    case 'notNow': {
      const { delayMs } = answer.value;
      return { status: undefined, retry: undefined, delayMs, story: storyOfWait(answer.value) };
    }
    default:
      throw new TypeError('GetAttempt answered neither send nor skip nor not now');
  }
}
