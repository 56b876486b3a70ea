import type { EnvironmentName } from '../tenant.ts';

/** How many may run at once. Each environment has its own slots, so that the sandbox cannot use up those of live. */
export interface SlotLimits extends Readonly<Record<EnvironmentName, number>> {
  readonly perOwner: number;
}

/** Uploads, which a process holds in memory. */
export const UPLOADS: SlotLimits = { live: 16, test: 8, perOwner: 4 };

/** Bounds concurrent work in a process by environment and, within each, by owner: a merchant or a person. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #owners: Readonly<Record<EnvironmentName, string[]>> = { live: [], test: [] };

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Takes a slot and returns the function that frees it, or the limit that has been reached. */
  acquire(environment: EnvironmentName, owner: string): (() => void) | 'PROCESS_LIMIT' | 'OWNER_LIMIT' {
    const owners = this.#owners[environment];
    if (owners.length >= this.#limits[environment]) return 'PROCESS_LIMIT';
    if (owners.filter((each) => each === owner).length >= this.#limits.perOwner) return 'OWNER_LIMIT';
    owners.push(owner);
    return () => owners.splice(owners.indexOf(owner), 1);
  }
}
