import type { EnvironmentName } from '../tenant.ts';

/** How many may run at once. Each environment has its own slots, so that the sandbox cannot use up those of live. */
export interface SlotLimits extends Readonly<Record<EnvironmentName, number>> {
  readonly perOwner: number;
}

/** Uploads, which a process holds in memory. */
export const UPLOADS: SlotLimits = { live: 16, test: 8, perOwner: 4 };

interface Slot {
  readonly owner: string;
}

/** Bounds concurrent work in a process by environment and, within each, by owner: a merchant or a person. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #taken: Readonly<Record<EnvironmentName, Set<Slot>>> = { live: new Set(), test: new Set() };

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Takes a slot and returns the function that frees it, once, or the limit that has been reached. */
  acquire(environment: EnvironmentName, owner: string): (() => void) | 'PROCESS_LIMIT' | 'OWNER_LIMIT' {
    const taken = this.#taken[environment];
    if (taken.size >= this.#limits[environment]) return 'PROCESS_LIMIT';
    const ofOwner = [...taken].filter((slot) => slot.owner === owner);
    if (ofOwner.length >= this.#limits.perOwner) return 'OWNER_LIMIT';
    const slot = { owner };
    taken.add(slot);
    return () => taken.delete(slot);
  }
}
