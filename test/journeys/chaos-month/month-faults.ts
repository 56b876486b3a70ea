import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { scheduleRounds } from '../../support/fault-rounds.ts';
import { type MonthSystem, PROCESSES, type ProcessName, WHOLES } from './month-system.ts';

/** A fault of a process: its start within the month and its duration. */
export interface MonthFault {
  readonly kind: 'kill' | 'pause' | 'lose state';
  readonly target: ProcessName;
  readonly atMs: number;
  readonly forMs: number;
}

/** Part of a round, from 0 to 1. */
type Span = readonly [number, number];

const ROUND_MS = 45_000;
/** The pause after a fault of a target, so that it has recovered before the next one. */
const REST_MS = 3_000;
/** Longer than an activity may take and than the lease of a command, so that others take over its work. */
const PAUSE_PAST_LEASES_MS = 33_000;

/**
 * The faults of a month, in the order of their times; the same for the same seed and duration. Each round kills every
 * process, pauses both processes of services and worker, one of them past its leases, and deletes the state of Temporal
 * twice.
 */
export function planMonthFaults(seed: number, durationMs: number): MonthFault[] {
  const count = Math.max(1, Math.round(durationMs / ROUND_MS));
  const roundMs = durationMs / count;
  const rounds = fc.sample(fc.noBias(roundOf(roundMs)), { seed, numRuns: count });
  return scheduleRounds(rounds, roundMs, REST_MS);
}

function roundOf(roundMs: number): fc.Arbitrary<MonthFault[]> {
  const fault = (
    kind: MonthFault['kind'],
    targets: readonly ProcessName[],
    [from, to]: Span,
    [least, most]: Span,
  ): fc.Arbitrary<MonthFault> =>
    fc.record({
      kind: fc.constant(kind),
      target: fc.constantFrom(...targets),
      atMs: fc.integer({ min: Math.round(from * roundMs), max: Math.round(to * roundMs) }),
      forMs: fc.integer({ min: least, max: most }),
    });
  return fc
    .tuple(
      ...PROCESSES.map((target) => fault('kill', [target], [0, 1], [50, 2_000])),
      ...WHOLES.map((target) => fault('pause', [target], [0, 1], [500, 5_000])),
      fault('pause', WHOLES, [0.05, 0.2], [PAUSE_PAST_LEASES_MS, PAUSE_PAST_LEASES_MS]),
      fault('lose state', ['temporal'], [0.2, 0.4], [50, 2_000]),
      fault('lose state', ['temporal'], [0.7, 0.9], [50, 2_000]),
    )
    .map((faults) => [...faults]);
}

/** Plays all faults; resolves when their targets serve again. */
export async function playMonthFaults(
  faults: readonly MonthFault[],
  system: MonthSystem,
  say: (line: string) => void,
): Promise<void> {
  const startedAt = performance.now();
  /** A target that is slow to recover is left alone until it has. */
  const busy = new Map<ProcessName, Promise<void>>();
  for (const fault of faults) {
    const { kind, target, atMs, forMs } = fault;
    await delay(Math.max(0, startedAt + atMs - performance.now()));
    const played = (busy.get(target) ?? Promise.resolve()).then(() => {
      say(`${Math.round(performance.now() - startedAt)} ms ${kind}: ${target}, ${forMs} ms`);
      return playFault(fault, system);
    });
    // Promise.all below reports it.
    played.catch(() => undefined);
    busy.set(target, played);
  }
  await Promise.all(busy.values());
}

async function playFault({ kind, target, forMs }: MonthFault, { victims, temporal }: MonthSystem) {
  const victim = victims[target];
  switch (kind) {
    case 'kill':
    case 'lose state':
      await victim.kill();
      if (kind === 'lose state') await temporal.loseState();
      await delay(forMs);
      return victim.start();
    case 'pause':
      victim.signal('SIGSTOP');
      await delay(forMs);
      return victim.signal('SIGCONT');
    default:
      return kind satisfies never;
  }
}
