import { LANE_OWNERS } from './fault-schedule.ts';
import type { Arrival, FaultWindow, LoggedAttempt, LoggedDelivery } from './records.ts';

/** Explains arrivals that are missing in the log, and duplicates. */
export interface Repeats {
  readonly duplicates: ReadonlyMap<string, number>;
  readonly unrecorded: ReadonlyMap<string, number>;
  readonly unexplained: readonly string[];
}

/** How long after a fault connections may still be reopening and failed calls be retried. */
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
  const evidenceOf = (key: string) => {
    const arrived = (arrivals.get(key) ?? []).map(({ at, stamp, answer }) => ({ at, stamp, answer }));
    const attempts = deliveries.get(key)?.map(({ resendId, attempts: own }) => ({ resendId, own }));
    return JSON.stringify({ arrived, attempts });
  };
  const count = (counts: Map<string, number>, key: string, [cause, isExplained]: Attribution) => {
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
    if (!isExplained) unexplained.push(`${key}: ${cause}; ${evidenceOf(key)}`);
  };
  for (const [key, arrived] of arrivals) {
    const own = deliveries.get(key) ?? [];
    const attempts = own.flatMap((delivery) => delivery.attempts);
    const { recorded, unseen } = matchAttempts(arrived, attempts);
    /** Undefined if its attempt is not recorded: it may be of any delivery. */
    const deliveryOf = (arrival: Arrival) => own.find((one) => one.attempts.includes(recorded.get(arrival)!));
    unexplained.push(
      ...unseen.map(({ number }) => `${key}: attempt ${number} has a response that no endpoint sent`),
    );
    for (const arrival of arrived) {
      if (!recorded.has(arrival)) count(unrecorded, key, causeOfUnrecorded(arrival, faults));
    }
    for (const [index, arrival] of arrived.entries()) {
      // A resend is another delivery: neither repeats the other.
      const before = arrived.slice(0, index).findLast((earlier) => {
        const [first, second] = [deliveryOf(earlier), deliveryOf(arrival)];
        return isSuccess(earlier.answer) && (!first || !second || first === second);
      });
      if (before) count(duplicates, key, causeOfDuplicate(before, recorded.get(before), arrival, faults));
    }
  }
  for (const [key, all] of deliveries) {
    const attempts = all.flatMap((delivery) => delivery.attempts);
    const seen = attempts.some(({ httpStatus }) => httpStatus !== undefined);
    if (seen && !arrivals.has(key)) unexplained.push(`${key}: has a response but no arrival`);
  }
  return { duplicates, unrecorded, unexplained };
}

/** Matches by the second in which an attempt started and by its response, if it has one. */
function matchAttempts(arrived: readonly Arrival[], attempts: readonly LoggedAttempt[]) {
  const recorded = new Map<Arrival, LoggedAttempt>();
  const unseen: LoggedAttempt[] = [];
  // Answered attempts first, because their answer distinguishes them; otherwise in chronological order.
  const ordered = attempts.toSorted(
    (a, b) =>
      Number(b.httpStatus !== undefined) - Number(a.httpStatus !== undefined) || a.startedAt - b.startedAt,
  );
  for (const attempt of ordered) {
    const match = arrived.find(
      (arrival) =>
        !recorded.has(arrival) &&
        arrival.stamp === Math.floor(attempt.startedAt / 1_000) &&
        (attempt.httpStatus === undefined || attempt.httpStatus === arrival.answer),
    );
    if (match) recorded.set(match, attempt);
    else if (attempt.httpStatus !== undefined) unseen.push(attempt);
  }
  return { recorded, unseen };
}

function causeOfUnrecorded({ at }: Arrival, faults: readonly FaultWindow[]): Attribution {
  const until = at + RECORD_MS;
  if (during(faults, affectsLaneOwner, at, until)) return ['lane owner gone before its record', true];
  if (during(faults, affectsRecording, at, until)) return ['not recorded in time', true];
  return ['NOT RECORDED, NO FAULT', false];
}

/** Whether a fault could explain an unrecorded attempt at this time. The fewer such times, the more a run proves. */
export function mayBeUnrecorded(at: number, faults: readonly FaultWindow[]): boolean {
  return during(faults, affectsSending, at, at + RECORD_MS);
}

/** Why an event was sent again after a successful response. */
function causeOfDuplicate(
  first: Arrival,
  attempt: LoggedAttempt | undefined,
  again: Arrival,
  faults: readonly FaultWindow[],
): Attribution {
  if (!attempt) return causeOfUnrecorded(first, faults);
  if (attempt.failure === 'WORKER_LOST') return ['attempt recorded as WORKER_LOST', true];
  const from = Math.min(attempt.startedAt, again.stamp * 1_000);
  if (attempt.failure !== undefined) {
    const until = attempt.endedAt ?? again.at;
    const isExplained = during(faults, affectsResponse, from, until);
    return isExplained ? [`answer lost: ${attempt.failure}`, true] : [`${attempt.failure}, NO FAULT`, false];
  }
  const isExplained = during(faults, affectsSending, from, Math.max(first.at + RECORD_MS, again.at));
  return isExplained ? ['sent by two lane owners', true] : ['SENT TWICE, NO FAULT', false];
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

const affectsLaneOwner = ({ target }: FaultWindow) => LANE_OWNERS.some((owner) => target === owner);
const affectsRecording = ({ target }: FaultWindow) =>
  target === 'postgres' || LANE_OWNERS.some((owner) => target === `${owner} to postgres`);
const affectsSending = (fault: FaultWindow) => affectsLaneOwner(fault) || affectsRecording(fault);
const affectsResponse = (fault: FaultWindow) =>
  affectsLaneOwner(fault) || fault.target.startsWith('lanes to ') || fault.target.startsWith('endpoint-');
