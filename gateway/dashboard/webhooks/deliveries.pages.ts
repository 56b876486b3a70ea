import type { RoomDependencies } from '../room.ts';

/** Pages of deliveries and resends. */
export function deliveriesPages(_dependencies: RoomDependencies): void {}
