import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder in the user's cache that all checkouts and data folders share, for what takes minutes to build or
 * download.
 */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const home = environment.HOME || homedir();
  const platformCache = process.platform === 'darwin' ? join(home, 'Library/Caches') : join(home, '.cache');
  return join(environment.XDG_CACHE_HOME || platformCache, 'merchant-payments');
}
