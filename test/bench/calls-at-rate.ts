import { setTimeout as delay } from 'node:timers/promises';
import { median, quantile } from '../support/quantile.ts';

/** Twice the calls that a process answers at once. */
export const CONNECTIONS = 2_000;

/** What became of one call. */
export interface Answer<T> {
  /** When the call was due, by `performance.now()`. */
  readonly dueAt: number;
  readonly ms: number;
  /** 503: refused, and may be repeated. */
  readonly outcome: T | 503 | 'not sent' | 'failed';
}

/** Starts calls at a rate, however long they take; each learns when it was due, by `performance.now()`. */
export async function startAtRate<T>(
  start: (dueAt: number) => Promise<T>,
  perSecond: number,
  seconds: number,
): Promise<T[]> {
  const calls: Promise<T>[] = [];
  const startedAt = performance.now();
  for (let now = startedAt; now < startedAt + seconds * 1_000; now = performance.now()) {
    const due = Math.ceil(((now - startedAt) / 1_000) * perSecond);
    while (calls.length < due) calls.push(start(startedAt + (calls.length * 1_000) / perSecond));
    await delay(1);
  }
  return Promise.all(calls);
}

/** Makes calls at a rate, however long responses take, up to CONNECTIONS at once. Calls beyond that are not sent. */
export function callAtRate<T>(
  call: () => Promise<T | 503>,
  perSecond: number,
  seconds: number,
): Promise<Answer<T>[]> {
  let open = 0;
  const outcomeOf = async (): Promise<Answer<T>['outcome']> => {
    if (open === CONNECTIONS) return 'not sent';
    open += 1;
    try {
      return await call();
    } catch {
      return 'failed';
    } finally {
      open -= 1;
    }
  };
  const answerAt = async (dueAt: number): Promise<Answer<T>> => {
    const outcome = await outcomeOf();
    return { dueAt, outcome, ms: performance.now() - dueAt };
  };
  return startAtRate(answerAt, perSecond, seconds);
}

export const ANSWER_HEADINGS = [
  'due/s',
  'accepted/s',
  '503/s',
  'not sent/s',
  'failed',
  'accepted: p50/p99 ms',
  '503: p50/p99 ms',
];

/** The cells below ANSWER_HEADINGS. */
export function answerCells<T>(answers: readonly Answer<T>[], seconds: number): string[] {
  const of = (outcome: 503 | 'not sent' | 'failed') => answers.filter((answer) => answer.outcome === outcome);
  const [refused, notSent, failed] = [of(503), of('not sent'), of('failed')];
  const accepted = answers.filter(isAccepted);
  const rate = (some: readonly unknown[]) => (some.length / seconds).toFixed(0);
  return [
    ...[answers, accepted, refused, notSent].map(rate),
    `${failed.length}`,
    quantiles(accepted),
    quantiles(refused),
  ];
}

export const isAccepted = <T>({ outcome }: Answer<T>): boolean =>
  outcome !== 503 && outcome !== 'not sent' && outcome !== 'failed';

/** Times of answers: p50/p99. */
export function quantiles(answers: readonly Answer<unknown>[]): string {
  if (answers.length === 0) return '';
  const times = answers.map(({ ms }) => ms);
  return `${median(times).toFixed(0)}/${quantile(times, 0.99).toFixed(0)}`;
}
