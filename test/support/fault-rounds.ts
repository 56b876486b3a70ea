interface TimedFault {
  readonly target: string;
  readonly atMs: number;
  readonly forMs: number;
}

/**
 * The faults of consecutive rounds in the order of their times, each of which begins in its round. Postpones those that would
 * overlap another fault of their target, or begin within `restMs` of its end.
 */
export function scheduleRounds<Fault extends TimedFault>(
  rounds: readonly (readonly Fault[])[],
  roundMs: number,
  restMs: number,
): Fault[] {
  const planned = rounds.flatMap((faults, round) =>
    faults.map((fault) => ({ ...fault, atMs: fault.atMs + round * roundMs })),
  );
  const freeAt = new Map<string, number>();
  return planned
    .toSorted((one, other) => one.atMs - other.atMs)
    .map((fault) => {
      const atMs = Math.max(fault.atMs, freeAt.get(fault.target) ?? 0);
      freeAt.set(fault.target, atMs + fault.forMs + restMs);
      return { ...fault, atMs };
    })
    .toSorted((one, other) => one.atMs - other.atMs);
}
