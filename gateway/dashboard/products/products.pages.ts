import type { RoomDependencies } from '../room.ts';

/** Pages of products. */
export function productsPages(_dependencies: RoomDependencies): void {}
