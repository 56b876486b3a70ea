import fc from 'fast-check';
import { scheduleRounds } from '../support/fault-rounds.ts';

/** The processes that send webhooks. */
export const LANE_OWNERS = ['services', 'lanes-1', 'lanes-2'] as const;
export const PROCESSES = [...LANE_OWNERS, 'worker', 'gateway', 'postgres', 'temporal'] as const;
export const LINKS = [
  'publishers to services',
  'merchants to gateway',
  'gateway to services',
  'services to postgres',
  'lanes-1 to postgres',
  'lanes-2 to postgres',
  'worker to services',
  'worker to temporal',
  'lanes to endpoint-1',
  'lanes to endpoint-2',
  'lanes to endpoint-3',
] as const;
/** The first never fails by itself: only its links to the lane owners do. */
export const ENDPOINTS = ['endpoint-1', 'endpoint-2', 'endpoint-3'] as const;
const FAULTY_ENDPOINTS = ['endpoint-2', 'endpoint-3'] as const;

export type ProcessName = (typeof PROCESSES)[number];
export type LinkName = (typeof LINKS)[number];
export type EndpointName = (typeof ENDPOINTS)[number];

export type NetworkFault = 'drop' | 'lose answers' | 'delay' | 'reset' | 'half-close';
export type EndpointFault = 'answer 500' | 'answer 503' | 'answer late' | 'hang' | 'hang up';

/** A fault: its start within the run and its duration. */
export type Fault = { readonly atMs: number; readonly forMs: number } & (
  | { readonly kind: 'kill' | 'pause' | 'pause past the lease'; readonly target: ProcessName }
  | { readonly kind: 'lose state'; readonly target: 'temporal' }
  | { readonly kind: NetworkFault; readonly target: LinkName }
  | { readonly kind: EndpointFault; readonly target: EndpointName }
);
export type FaultKind = Fault['kind'];

interface KindPlan {
  readonly kind: FaultKind;
  readonly targets: readonly string[];
  /** Occurrences per round; 'each': one for every target. */
  readonly times: number | 'each';
  /** Minimum and maximum duration. */
  readonly forMs: readonly [number, number];
  /** Only in every other round, because recovery takes a minute. */
  readonly rounds?: 'even' | 'odd';
}

const PLAN: readonly KindPlan[] = [
  { kind: 'kill', targets: PROCESSES, times: 'each', forMs: [50, 3_000] },
  { kind: 'pause', targets: PROCESSES, times: 'each', forMs: [500, 5_000] },
  { kind: 'lose state', targets: ['temporal'], times: 1, forMs: [50, 2_000], rounds: 'even' },
  // The other owner takes the lanes over after four seconds.
  { kind: 'pause past the lease', targets: LANE_OWNERS, times: 'each', forMs: [6_000, 10_000] },
  { kind: 'drop', targets: LINKS, times: 3, forMs: [500, 6_000] },
  { kind: 'lose answers', targets: LINKS, times: 3, forMs: [500, 4_000] },
  { kind: 'delay', targets: LINKS, times: 2, forMs: [1_000, 6_000] },
  { kind: 'reset', targets: LINKS, times: 3, forMs: [0, 1_500] },
  { kind: 'half-close', targets: LINKS, times: 3, forMs: [500, 4_000] },
  { kind: 'answer 500', targets: FAULTY_ENDPOINTS, times: 1, forMs: [1_000, 6_000] },
  { kind: 'answer 503', targets: FAULTY_ENDPOINTS, times: 1, forMs: [1_000, 6_000] },
  { kind: 'answer late', targets: FAULTY_ENDPOINTS, times: 1, forMs: [2_000, 6_000] },
  { kind: 'hang', targets: FAULTY_ENDPOINTS, times: 1, forMs: [1_000, 5_000] },
  { kind: 'hang up', targets: FAULTY_ENDPOINTS, times: 1, forMs: [1_000, 4_000] },
];

/** The pause after a fault of a target, so that it has recovered before the next one. */
const REST_MS = 4_000;
const MAX_ROUND_MS = 120_000;

/** Every run contains all of these, even if it takes longer. */
const REQUIRED: readonly FaultKind[] = ['kill', 'lose state', 'pause past the lease'];

type Round = 'even' | 'odd' | 'only';

/**
 * The faults of a run, in the order of their times; the same for the same seed and duration. Each round, two minutes or
 * the run if that is shorter, kills and pauses every process, at random times that overlap. An only round has every kind of
 * fault.
 */
export function planFaults(seed: number, durationMs: number): Fault[] {
  const count = Math.max(1, Math.round(durationMs / MAX_ROUND_MS));
  const roundMs = durationMs / count;
  const rounds = fc.sample(
    fc.noBias(fc.tuple(roundOf(count === 1 ? 'only' : 'even', roundMs), roundOf('odd', roundMs))),
    {
      seed,
      numRuns: Math.ceil(count / 2),
    },
  );
  return scheduleRounds(rounds.flat().slice(0, count), roundMs, REST_MS).filter(
    ({ kind, atMs, forMs }) => REQUIRED.includes(kind) || atMs + forMs <= durationMs + REST_MS,
  );
}

function roundOf(round: Round, roundMs: number): fc.Arbitrary<Fault[]> {
  const belongsToRound = ({ rounds }: KindPlan) =>
    rounds === undefined || round === 'only' || rounds === round;
  const plans = PLAN.filter(belongsToRound).flatMap((plan) =>
    plan.times === 'each'
      ? plan.targets.map((target) => ({ ...plan, targets: [target] }))
      : Array.from({ length: plan.times }, () => plan),
  );
  const faults = plans.map(({ kind, targets, forMs: [least, most], rounds }) =>
    fc.record({
      kind: fc.constant(kind),
      target: fc.constantFrom(...targets),
      // Faults with a long recovery come early.
      atMs: fc.integer({ min: 0, max: Math.floor(rounds === undefined ? roundMs : roundMs / 6) }),
      forMs: fc.integer({ min: least, max: most }),
    }),
  );
  return fc.tuple(...faults).map((round) => round as Fault[]);
}
