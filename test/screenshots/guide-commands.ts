import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BLOCK = /(?<=^```sh\n).*?(?=^```$)/gms;

/**
 * Runs the shell commands of a guide in one shell, like a reader who pastes them one after another, against the
 * system in this data folder. Throws when one of them fails.
 * @param guide path from the repository's root.
 */
export function runGuideCommands(guide: string, dataDir: string): void {
  const blocks = readFileSync(new URL(`../../${guide}`, import.meta.url), 'utf8').match(BLOCK) ?? [];
  const script = blocks.join('\n').replaceAll('./.data/', `${dataDir}/`);
  const { status } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error(`the commands of ${guide} do not run`);
}
