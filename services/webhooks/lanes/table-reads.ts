/** The key of a lane, for {@link TableRead.isCurrent}. */
export const laneKey = (lane: number) => `lane ${lane}`;

/** A read of the table of open deliveries, until it is disposed of. */
export interface TableRead extends Disposable {
  /**
   * Whether the result is still right about a delivery, a subscription or a lane ({@link laneKey}).
   * @param attempts how many attempts the result shows of a delivery that awaits its next one; 0 for anything else.
   */
  isCurrent(id: string, attempts?: number): boolean;
}

/** The reads in progress. Each may return rows that have changed since it began. */
export class TableReads {
  readonly #outdated = new Set<Map<string, number>>();

  begin(): TableRead {
    const ids = new Map<string, number>();
    this.#outdated.add(ids);
    return {
      isCurrent: (id, attempts = 0) => attempts >= (ids.get(id) ?? 0),
      [Symbol.dispose]: () => this.#outdated.delete(ids),
    };
  }

  /**
   * Call this when a result was recorded, a subscription has changed or a lane was lost: reads that began earlier may
   * return the former state.
   * @param attempts of a delivery, including the one that was recorded: a result that shows as many is not outdated.
   */
  outdate(id: string, attempts = Number.POSITIVE_INFINITY): void {
    for (const ids of this.#outdated) ids.set(id, Math.max(attempts, ids.get(id) ?? 0));
  }
}
