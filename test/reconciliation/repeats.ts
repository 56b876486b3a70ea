import { LANE_OWNERS } from './fault-schedule.ts';
import type { Arrival, FaultWindow, LoggedAttempt, LoggedDelivery } from './records.ts';

/** Explains arrivals that are missing in the log or that merchants did not need. */
export interface Repeats {
  readonly duplicates: ReadonlyMap<string, number>;
  readonly unrecorded: ReadonlyMap<string, number>;
  readonly unexplained: readonly string[];
}

/** The time after a fault until connections are reopened and failed calls repeated. */
const AFTERMATH_MS = 5_000;
/** An attempt is recorded when it ends, or as in flight after a second and a half. */
const RECORD_MS = 3_000;

type Attribution = readonly [cause: string, isExplained: boolean];

/** Matches each arrival with an attempt in the log, and finds the cause of each surplus one. */
export function explainRepeats(
  arrivals: ReadonlyMap<string, readonly Arrival[]>,
  deliveries: ReadonlyMap<string, readonly LoggedDelivery[]>,
  faults: readonly FaultWindow[],
): Repeats {
  const duplicates = new Map<string, number>();
  const unrecorded = new Map<string, number>();
  const unexplained: string[] = [];
  const story = (key: string) => {
    const came = (arrivals.get(key) ?? []).map(({ at, stamp, answer }) => ({ at, stamp, answer }));
    const attempts = deliveries.get(key)?.map(({ resendId, attempts: own }) => ({ resendId, own }));
    return JSON.stringify({ came, attempts });
  };
  const count = (counts: Map<string, number>, key: string, [cause, isExplained]: Attribution) => {
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
    if (!isExplained) unexplained.push(`${key}: ${cause}; ${story(key)}`);
  };
  for (const [key, came] of arrivals) {
    const own = deliveries.get(key) ?? [];
    const attempts = own.flatMap((delivery) => delivery.attempts);
    const { recorded, unseen } = matchAttempts(came, attempts);
    /** Undefined: of any of them. */
    const deliveryOf = (arrival: Arrival) => own.find((one) => one.attempts.includes(recorded.get(arrival)!));
    unexplained.push(...unseen.map(({ number }) => `${key}: attempt ${number} has an answer nobody gave`));
    for (const arrival of came) {
      if (!recorded.has(arrival)) count(unrecorded, key, whyUnrecorded(arrival, faults));
    }
    for (const [index, arrival] of came.entries()) {
      // A resend is another delivery: neither repeats the other.
      const before = came.slice(0, index).findLast((earlier) => {
        const [first, second] = [deliveryOf(earlier), deliveryOf(arrival)];
        return isSuccess(earlier.answer) && (!first || !second || first === second);
      });
      if (before) count(duplicates, key, whyTwice(before, recorded.get(before), arrival, faults));
    }
  }
  for (const [key, all] of deliveries) {
    const attempts = all.flatMap((delivery) => delivery.attempts);
    const seen = attempts.some(({ httpStatus }) => httpStatus !== undefined);
    if (seen && !arrivals.has(key)) unexplained.push(`${key}: answered, and never arrived`);
  }
  return { duplicates, unrecorded, unexplained };
}

/** By the second in which an attempt began and, where it was answered, by the answer. */
function matchAttempts(came: readonly Arrival[], attempts: readonly LoggedAttempt[]) {
  const recorded = new Map<Arrival, LoggedAttempt>();
  const unseen: LoggedAttempt[] = [];
  // Answered attempts first, because their answer distinguishes them; otherwise in chronological order.
  const inTurn = attempts.toSorted(
    (a, b) =>
      Number(b.httpStatus !== undefined) - Number(a.httpStatus !== undefined) || a.startedAt - b.startedAt,
  );
  for (const attempt of inTurn) {
    const fitting = came.find(
      (arrival) =>
        !recorded.has(arrival) &&
        arrival.stamp === Math.floor(attempt.startedAt / 1_000) &&
        (attempt.httpStatus === undefined || attempt.httpStatus === arrival.answer),
    );
    if (fitting) recorded.set(fitting, attempt);
    else if (attempt.httpStatus !== undefined) unseen.push(attempt);
  }
  return { recorded, unseen };
}

function whyUnrecorded({ at }: Arrival, faults: readonly FaultWindow[]): Attribution {
  const until = at + RECORD_MS;
  if (during(faults, isOwnerGone, at, until)) return ['lane owner gone before its record', true];
  if (during(faults, isOnRecordsWay, at, until)) return ['not recorded in time', true];
  return ['NOT RECORDED, NO FAULT', false];
}

/** Whether a fault could explain an unrecorded attempt at this time: the fewer, the more the run proves. */
export function couldGoUnrecorded(at: number, faults: readonly FaultWindow[]): boolean {
  return during(faults, isOnSendersWay, at, at + RECORD_MS);
}

/** Why an event was sent again after a successful response. */
function whyTwice(
  first: Arrival,
  attempt: LoggedAttempt | undefined,
  again: Arrival,
  faults: readonly FaultWindow[],
): Attribution {
  if (!attempt) return whyUnrecorded(first, faults);
  if (attempt.failure === 'WORKER_LOST') return ['attempt recorded as WORKER_LOST', true];
  const from = Math.min(attempt.startedAt, again.stamp * 1_000);
  if (attempt.failure !== undefined) {
    const until = attempt.endedAt ?? again.at;
    const isExplained = during(faults, isOnAnswersWay, from, until);
    return isExplained ? [`answer lost: ${attempt.failure}`, true] : [`${attempt.failure}, NO FAULT`, false];
  }
  const isExplained = during(faults, isOnSendersWay, from, Math.max(first.at + RECORD_MS, again.at));
  return isExplained ? ['sent by two at a time', true] : ['SENT TWICE, NO FAULT', false];
}

const isSuccess = (answer: number | undefined) => answer !== undefined && answer >= 200 && answer < 300;

function during(
  faults: readonly FaultWindow[],
  applies: (fault: FaultWindow) => boolean,
  from: number,
  until: number,
): boolean {
  return faults.some((fault) => applies(fault) && fault.from <= until && fault.to + AFTERMATH_MS >= from);
}

const isOwnerGone = ({ target }: FaultWindow) => LANE_OWNERS.some((owner) => target === owner);
const isOnRecordsWay = ({ target }: FaultWindow) =>
  target === 'postgres' || LANE_OWNERS.some((owner) => target === `${owner} to postgres`);
const isOnSendersWay = (fault: FaultWindow) => isOwnerGone(fault) || isOnRecordsWay(fault);
const isOnAnswersWay = (fault: FaultWindow) =>
  isOwnerGone(fault) || fault.target.startsWith('lanes to ') || fault.target.startsWith('endpoint-');
