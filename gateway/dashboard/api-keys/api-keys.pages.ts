import type { RoomDependencies } from '../room.ts';

/** Pages of api-keys. */
export function apiKeysPages(_dependencies: RoomDependencies): void {}
