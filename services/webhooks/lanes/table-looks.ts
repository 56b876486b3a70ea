/** A lane, among the ids of deliveries and subscriptions that looks are asked about. */
export const laneKey = (lane: number) => `lane ${lane}`;

/** A look into the table of open deliveries. */
export interface Look {
  /** Whether what the look returns of a delivery, a subscription or a lane ({@link laneKey}) is still right. */
  isCurrent(id: string): boolean;
  end(): void;
}

/** The looks in progress, each of which may return what has changed since it began. */
export class TableLooks {
  readonly #outdated = new Set<Set<string>>();

  begin(): Look {
    const ids = new Set<string>();
    this.#outdated.add(ids);
    return { isCurrent: (id) => !ids.has(id), end: () => this.#outdated.delete(ids) };
  }

  /** The result of a delivery was recorded, a subscription has changed, or a lane was lost: looks that began earlier may return it as it was. */
  outdate(id: string): void {
    for (const ids of this.#outdated) ids.add(id);
  }
}
