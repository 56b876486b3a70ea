import { fileURLToPath } from 'node:url';
import { takeDashboardPictures } from './dashboard.ts';
import { takeOperationsPictures } from './operations.ts';

/** The folder of each set of pictures, and the function that takes it. */
const SETS: Readonly<Record<string, { folder: string; take: (folder: string) => Promise<void> }>> = {
  operations: { folder: 'docs/operations', take: takeOperationsPictures },
  dashboard: { folder: 'docs/dashboard', take: takeDashboardPictures },
};

/**
 * `npm run screenshots -- operations|dashboard`: takes the pictures of a guide again, from a whole system started for
 * it.
 */
const [name = ''] = process.argv.slice(2);
const set = SETS[name];
if (set) {
  await set.take(fileURLToPath(new URL(`../../${set.folder}`, import.meta.url)));
} else {
  console.error(`npm run screenshots -- ${Object.keys(SETS).join('|')}`);
  process.exitCode = 1;
}
