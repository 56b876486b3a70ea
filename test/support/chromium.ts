import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A browser of this machine that playwright can drive; undefined where there is none. */
export const chromiumPath = ['chromium', 'chromium-browser', 'google-chrome']
  .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
  .find((path) => existsSync(path));
