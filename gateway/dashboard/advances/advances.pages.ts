import type { RoomDependencies } from '../room.ts';

/** Pages of advances. */
export function advancesPages(_dependencies: RoomDependencies): void {}
