import type { RoomDependencies } from '../room.ts';

/** Pages of home. */
export function homePages(_dependencies: RoomDependencies): void {}
