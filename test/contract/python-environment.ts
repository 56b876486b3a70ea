import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../../local/cache-folder.ts';

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
const DESCRIBE =
  'import ensurepip, sys, venv; print(sys.version, sys.platform); assert sys.version_info >= (3, 11)';

/** This machine has no Python that can make a virtual environment. */
export class PythonMissing extends Error {
  constructor() {
    super('Python 3.11 or later with venv is needed (Debian: apt-get install python3 python3-venv)');
  }
}

/**
 * A virtual environment in the user's cache with the packages of requirements.txt: created once per version of that
 * file and of Python, with this machine's configuration of pip. Returns its interpreter. Throws PythonMissing, or an
 * Error of pip.
 */
export function pythonEnvironment(): string {
  const { status, stdout } = spawnSync('python3', ['-c', DESCRIBE], { encoding: 'utf8' });
  if (status !== 0) throw new PythonMissing();
  const key = createHash('sha256').update(stdout).update(readFileSync(REQUIREMENTS)).digest('hex');
  const folder = join(cacheFolder(process.env), `contract-${key.slice(0, 16)}`);
  const interpreter = join(folder, 'bin/python');
  if (existsSync(interpreter)) return interpreter;

  console.log(`installing Schemathesis into ${folder}, once …`);
  mkdirSync(join(folder, '..'), { recursive: true });
  // Created elsewhere and renamed, so that parallel runs succeed and a killed one leaves nothing incomplete.
  const unfinished = `${folder}.${randomUUID()}.tmp`;
  try {
    run('python3', '-m', 'venv', unfinished);
    const pip = [join(unfinished, 'bin/python'), '-m', 'pip', '--disable-pip-version-check'] as const;
    run(...pip, 'install', '--quiet', '--require-hashes', '--requirement', REQUIREMENTS);
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return interpreter;
}

function run(command: string, ...args: string[]): void {
  const { status, signal } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${signal ?? status}`);
}
