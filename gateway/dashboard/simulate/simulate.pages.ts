import type { RoomDependencies } from '../room.ts';

/** Pages of simulate. */
export function simulatePages(_dependencies: RoomDependencies): void {}
