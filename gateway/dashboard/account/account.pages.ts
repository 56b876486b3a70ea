import type { RoomDependencies } from '../room.ts';

/** Pages of account. */
export function accountPages(_dependencies: RoomDependencies): void {}
