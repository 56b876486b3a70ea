import type { RoomDependencies } from '../room.ts';

/** Pages of refunds. */
export function refundsPages(_dependencies: RoomDependencies): void {}
