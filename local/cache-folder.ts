import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where this project keeps what takes long to make, for all its checkouts and data folders: the user's cache. */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const home = environment.HOME || homedir();
  const platformCache = process.platform === 'darwin' ? join(home, 'Library/Caches') : join(home, '.cache');
  return join(environment.XDG_CACHE_HOME || platformCache, 'merchant-payments');
}
