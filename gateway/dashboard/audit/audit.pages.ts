import type { RoomDependencies } from '../room.ts';

/** Pages of audit. */
export function auditPages(_dependencies: RoomDependencies): void {}
