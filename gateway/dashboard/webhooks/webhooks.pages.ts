import type { RoomDependencies } from '../room.ts';

/** Pages of webhooks. */
export function webhooksPages(_dependencies: RoomDependencies): void {}
