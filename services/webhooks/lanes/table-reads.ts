/** The key of a lane, for {@link TableRead.isCurrent}. */
export const laneKey = (lane: number) => `lane ${lane}`;

/** A read of the table of open deliveries, until it is disposed of. */
export interface TableRead extends Disposable {
  /** Whether the result is still right about a delivery, a subscription or a lane ({@link laneKey}). */
  isCurrent(id: string): boolean;
}

/** The reads in progress. Each may return rows that have changed since it began. */
export class TableReads {
  readonly #outdated = new Set<Set<string>>();

  begin(): TableRead {
    const ids = new Set<string>();
    this.#outdated.add(ids);
    return { isCurrent: (id) => !ids.has(id), [Symbol.dispose]: () => this.#outdated.delete(ids) };
  }

  /**
   * Call this when a result was recorded, a subscription has changed or a lane was lost: reads that began earlier may
   * return the former state.
   */
  outdate(id: string): void {
    for (const ids of this.#outdated) ids.add(id);
  }
}
