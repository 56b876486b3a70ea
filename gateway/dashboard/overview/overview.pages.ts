import type { RoomDependencies } from '../room.ts';

/** Pages of overview. */
export function overviewPages(_dependencies: RoomDependencies): void {}
