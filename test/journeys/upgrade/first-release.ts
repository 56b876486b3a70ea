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

/** Set where the history cannot be fetched: the test then upgrades the present release. */
const WITHOUT_HISTORY = 'UPGRADE_WITHOUT_HISTORY';

const howToMend = (reason: string) => `\
1.0.0 (${FIRST_RELEASE.slice(0, 8)}) cannot be read from the history of this repository (${reason}).
Fetch the history, in a shallow clone with \`git fetch --unshallow\`, or set ${WITHOUT_HISTORY}=true to upgrade the present release.`;

/** 1.0.0 from the history of this repository, with its own migrations and workflow code, and an .env that it made. */
export async function firstRelease(): Promise<{ image: ImageFiles; env: Record<string, string> }> {
  const root = await mkdtemp(join(tmpdir(), 'payments-first-release-'));
  try {
    const archive = join(root, 'release.tar');
    const failure = await run('git', ['archive', '--output', archive, FIRST_RELEASE]).then(
      () => undefined,
      ({ stderr }: { stderr: string }) => stderr.trim() || 'git does not run',
    );
    if (failure !== undefined) {
      if (process.env[WITHOUT_HISTORY] !== 'true') throw new Error(howToMend(failure));
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
