import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { inject } from 'vitest';
import { copyImageFiles, type ImageFiles } from '../separate-processes/image-files.ts';

/** The commit of the tag v1.0.0, which a clone without tags has too. */
const FIRST_RELEASE = '827d7c94f586b5d100778a799cc76fce56100709';
const run = promisify(execFile);

/**
 * 1.0.0 from the history of this repository, with its own migrations and workflow code, and an .env that it made. Where the
 * history ends before it, as in a shallow clone, the present release.
 */
export async function firstRelease(): Promise<{ image: ImageFiles; env: Record<string, string> }> {
  const root = await mkdtemp(join(tmpdir(), 'payments-first-release-'));
  try {
    const archive = join(root, 'release.tar');
    const hasHistory = await run('git', ['archive', '--output', archive, FIRST_RELEASE]).then(
      () => true,
      () => false,
    );
    if (!hasHistory) {
      console.warn('The history has no 1.0.0: the test upgrades the present release.');
      return { image: await copyImageFiles({ bundles: inject('workflowBundleFolder') }), env: {} };
    }
    await run('tar', ['--extract', '--file', archive, '--directory', root]);
    const image = await copyImageFiles({ root });
    await symlink(join(image.folder, 'node_modules'), join(root, 'node_modules'));
    const { stdout } = await run(process.execPath, ['local/compose-env.ts'], { cwd: root });
    return { image, env: parseEnv(stdout) as Record<string, string> };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
