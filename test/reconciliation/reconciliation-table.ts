import { textTable } from '../../local/text-table.ts';
import type { RunResult } from './reconciliation-run.ts';
import type { FaultWindow } from './records.ts';
import { mayBeUnrecorded } from './repeats.ts';

const SHOWN = 20;

/** All faults of a run, at most a screenful of each kind; empty when everything reconciles. */
export function faultsOf(result: RunResult): string[] {
  const { missing, unwanted, badLogs, outOfOrder, badResends, unexplained, broken, left } = result;
  const rest = Object.entries(left).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []));
  return Object.entries({
    missing,
    unwanted,
    badLogs,
    outOfOrder,
    badResends,
    unexplained,
    broken,
    left: rest,
  }).flatMap(([name, lines]) => [
    ...lines.slice(0, SHOWN).map((line) => `${name}: ${line}`),
    ...(lines.length > SHOWN ? [`${name}: ${lines.length - SHOWN} more`] : []),
  ]);
}

/** The run in numbers: faults by kind, then the outcomes of events. */
export function tableOf(result: RunResult): string {
  const { accepted, deliveries, arrivals, faults, publishingMs } = result;
  const attempts = deliveries.reduce((sum, delivery) => sum + delivery.attempts.length, 0);
  const perSecond = accepted.length / (publishingMs / 1_000);
  const retried = accepted.filter(({ tries }) => tries > 1).length;
  return [
    textTable([
      ['fault', 'times', 'longest', 'deliveries again after', 'all caught up after'],
      ...faultRows(result),
    ]),
    textTable([
      ['faults', String(faults.length)],
      ['events accepted', `${accepted.length} (${perSecond.toFixed(1)}/s)`],
      ['  asked for again with the same key', String(retried)],
      ['subscriptions', String(result.subscriptions)],
      ['resends of an event or a period', String(result.resends)],
      ['deliveries', String(deliveries.length)],
      ['attempts in the log', String(attempts)],
      ['arrivals, all signatures verified', String(arrivals.length)],
      ['pairs of event and subscription that had to arrive', String(result.expected)],
      ['missing', String(result.missing.length)],
      ['out of order', String(result.outOfOrder.length)],
      ['resends not as asked', String(result.badResends.length)],
      ['incomplete attempt logs', String(result.badLogs.length)],
      ...causeRows('duplicates', result.duplicates),
      ...causeRows('arrivals without an attempt in the log', result.unrecorded),
      ['unexplained', String(result.unexplained.length)],
      [
        'arrivals at times when no fault could have explained a duplicate',
        String(countFaultFreeArrivals(result)),
      ],
      ['slowest arrival after acceptance', seconds(slowestMs(result))],
      ['settled after the last fault', seconds(result.settledAfterMs)],
      ...Object.entries(result.left).map(([name, count]) => [`${name} left`, String(count)]),
    ]),
  ].join('\n\n');
}

function causeRows(name: string, causes: ReadonlyMap<string, number>): string[][] {
  const total = [...causes.values()].reduce((sum, count) => sum + count, 0);
  return [[name, String(total)], ...[...causes].map(([cause, count]) => [`  ${cause}`, String(count)])];
}

const countFaultFreeArrivals = ({ arrivals, faults }: RunResult) =>
  arrivals.filter(({ at }) => !mayBeUnrecorded(at, faults)).length;

/** The first success of each event at each subscription. */
function firstSuccesses({ accepted, arrivals }: RunResult) {
  const acceptedAt = new Map(accepted.map((event) => [event.id, event.acceptedAt]));
  const seen = new Set<string>();
  return arrivals.flatMap(({ path, eventId, answer, at }) => {
    const since = acceptedAt.get(eventId);
    const key = `${path} ${eventId}`;
    if (since === undefined || answer === undefined || answer >= 300 || seen.has(key)) return [];
    seen.add(key);
    return [{ acceptedAt: since, at }];
  });
}

const slowestMs = (result: RunResult) =>
  firstSuccesses(result).reduce((slowest, { acceptedAt, at }) => Math.max(slowest, at - acceptedAt), 0);

function faultRows(result: RunResult): string[][] {
  const successes = firstSuccesses(result);
  return [...Map.groupBy(result.faults, ({ kind }) => kind)]
    .toSorted()
    .map(([kind, windows]) => [
      kind,
      String(windows.length),
      seconds(longest(windows, ({ from, to }) => to - from)),
      seconds(longest(windows, ({ to }) => (successes.find(({ at }) => at >= to)?.at ?? to) - to)),
      seconds(
        longest(windows, ({ to }) =>
          successes.reduce(
            (late, { acceptedAt, at }) => (acceptedAt <= to ? Math.max(late, at - to) : late),
            0,
          ),
        ),
      ),
    ]);
}

const longest = (windows: readonly FaultWindow[], msOf: (window: FaultWindow) => number) =>
  Math.max(...windows.map(msOf));
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
