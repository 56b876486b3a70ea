import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a program; fails with what it printed. */
export async function run(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Readonly<Record<string, string>> },
): Promise<string> {
  try {
    const options = { cwd, env: { ...process.env, ...env }, timeout: 120_000 };
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { stdout, stderr, message } = error as { stdout: string; stderr: string; message: string };
    throw new Error(`${program} ${args.join(' ')} fails: ${message}\n${stdout}${stderr}`);
  }
}

/** Packs a package of this repository as `npm publish` does, and installs it in a folder; returns its files. */
export async function installPacked(source: string, name: string, folder: string): Promise<string[]> {
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: join(ROOT, source),
  });
  const archive = join(folder, packed.trim().split('\n').at(-1)!);
  const installed = join(folder, 'node_modules', name);
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', archive, '-C', installed, '--strip-components=1'], { cwd: folder });
  const listed = await run('tar', ['-tzf', archive], { cwd: folder });
  return listed
    .trim()
    .replaceAll(/^package\//gm, '')
    .split('\n')
    .sort();
}
