import { env } from 'node:process';

/** For the environment of a child process: where the processes of a test run share their compiled code. */
export const COMPILE_CACHE: Readonly<Record<string, string>> = env.NODE_COMPILE_CACHE
  ? { NODE_COMPILE_CACHE: env.NODE_COMPILE_CACHE }
  : {};
