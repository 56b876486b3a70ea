import type { RoomDependencies } from '../room.ts';

/** GET /sign-in, GET /sign-in/callback, POST /sign-out. */
export function signInRoutes(_dependencies: RoomDependencies): void {}
