import type { RoomDependencies } from '../room.ts';

/** Pages of funds. */
export function fundsPages(_dependencies: RoomDependencies): void {}
