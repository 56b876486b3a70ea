import { createHash, randomUUID } from 'node:crypto';
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../cache-folder.ts';
import type { DataFolder } from '../data-folder.ts';
import { plainEnvironment, runToEnd } from '../processes/tracked-process.ts';

const MODULE_FOLDER = fileURLToPath(new URL('.', import.meta.url));
const DOWNLOAD_PROGRAM = fileURLToPath(new URL('temporal-download.ts', import.meta.url));
const PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
const DAY_MS = 24 * 60 * 60 * 1000;

export interface TemporalSearch {
  readonly folder: DataFolder;
  /** PATH, the user's cache folder, and what Go and the download need (proxies). */
  readonly environment: NodeJS.ProcessEnv;
  /** Told before what takes minutes. */
  readonly onSlowStep: (detail: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Finds a Temporal server, or makes one: `temporal` on the PATH, one built before, a build with Go from the pinned
 * module, the SDK's own download. Answers the program's path. Rejects with one line that says why each way failed
 * and what to do.
 */
export async function findTemporalProgram(search: TemporalSearch): Promise<string> {
  const faults: string[] = [];
  for (const way of [fromPath, fromEarlierBuild, fromBuild, fromDownload]) {
    try {
      const program = await way(search);
      await assertFit(program, search);
      return program;
    } catch (error) {
      search.signal.throwIfAborted();
      faults.push((error as Error).message);
    }
  }
  throw new Error(
    `no Temporal server: ${faults.join('; ')}. Put the Temporal CLI or Go on the PATH, or set TEMPORAL_ADDRESS`,
  );
}

/** Where a built server is kept: one per state of the pinned module and platform, for all data folders of the user. */
export function builtTemporal(environment: NodeJS.ProcessEnv): string {
  const pin = createHash('sha256');
  for (const name of ['go.mod', 'go.sum']) pin.update(readFileSync(join(MODULE_FOLDER, name)));
  const version = pin.digest('hex').slice(0, 16);
  return join(
    cacheFolder(environment),
    `temporal-${process.platform}-${process.arch}-${version}`,
    'temporal',
  );
}

async function fromPath({ environment }: TemporalSearch): Promise<string> {
  return findOnPath('temporal', environment);
}

async function fromEarlierBuild({ environment }: TemporalSearch): Promise<string> {
  const program = builtTemporal(environment);
  if (!isExecutable(program)) throw new Error('none built before');
  return program;
}

/** Builds beside the place and renames: parallel builds both end well, a killed one leaves nothing half made. */
async function fromBuild(search: TemporalSearch): Promise<string> {
  const { folder, environment, onSlowStep, signal } = search;
  const go = findOnPath('go', environment);
  onSlowStep('building the Temporal server with Go: once, some minutes');
  const program = builtTemporal(environment);
  mkdirSync(join(program, '..'), { recursive: true });
  removeOldRemains(join(program, '..'));
  const unfinished = `${program}.${randomUUID()}.tmp`;
  try {
    await runToEnd(
      folder,
      'temporal-build',
      {
        file: go,
        args: ['build', '-mod=readonly', '-o', unfinished, PACKAGE],
        cwd: MODULE_FOLDER,
        env: { ...environment, GOWORK: 'off' },
        lowPriority: true,
      },
      signal,
    );
    renameSync(unfinished, program);
  } finally {
    rmSync(unfinished, { force: true });
  }
  return program;
}

async function fromDownload({ folder, environment, onSlowStep, signal }: TemporalSearch): Promise<string> {
  const downloads = join(cacheFolder(environment), 'temporal-download');
  mkdirSync(downloads, { recursive: true });
  onSlowStep('downloading the Temporal server');
  const command = {
    file: process.execPath,
    args: [DOWNLOAD_PROGRAM, downloads],
    cwd: folder.path,
    env: environment,
  };
  await runToEnd(folder, 'temporal-download', command, signal);
  const programs = readdirSync(downloads).map((name) => join(downloads, name));
  const newest = programs.filter(isExecutable).sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
  if (!newest) throw new Error('the download left no program');
  return newest;
}

/** An old or foreign `temporal` is passed over. */
async function assertFit(program: string, { folder, signal }: TemporalSearch): Promise<void> {
  const command = {
    file: program,
    args: ['server', 'start-dev', '--sqlite-pragma', 'journal_mode=wal', '--help'],
    cwd: folder.path,
    env: plainEnvironment(),
  };
  await runToEnd(folder, 'temporal-check', command, signal).catch((error: Error) => {
    throw new Error(`${program} does not serve: ${error.message}`);
  });
}

function findOnPath(name: string, environment: NodeJS.ProcessEnv): string {
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const program = folders.map((folder) => join(folder, name)).find(isExecutable);
  if (!program) throw new Error(`no ${name} on the PATH`);
  return program;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function removeOldRemains(folder: string): void {
  for (const path of readdirSync(folder).map((name) => join(folder, name))) {
    const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (path.endsWith('.tmp') && Date.now() - modified > DAY_MS) rmSync(path, { force: true });
  }
}
