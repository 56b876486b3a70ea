import type { RoomDependencies } from '../room.ts';

/** Pages of members. */
export function membersPages(_dependencies: RoomDependencies): void {}
