import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../cache-folder.ts';
import type { DataFolder } from '../data-folder.ts';
import { minimalEnvironment, runToCompletion } from '../processes/tracked-process.ts';
import { findOnPath, isExecutable } from './executables.ts';
import { buildTemporal, builtTemporal } from './temporal-build.ts';

const DOWNLOAD_PROGRAM = fileURLToPath(new URL('temporal-download.ts', import.meta.url));

/** A step of the search that takes minutes. */
export interface SlowStep {
  /** One line: what is done and how long it may take. */
  readonly detail: string;
  /** Returns one line on how far the step is now. Absent when that is unknown. */
  readonly progress?: () => string;
}

export interface TemporalSearch {
  readonly folder: DataFolder;
  /** PATH, the user's cache folder, and what Go and the download need, such as proxies. */
  readonly environment: NodeJS.ProcessEnv;
  /** Called before each slow step. */
  readonly onSlowStep: (step: SlowStep) => void;
  readonly signal: AbortSignal;
}

/**
 * Finds a Temporal server, or makes one, in this order: `temporal` on the PATH, an earlier build, a build with Go from
 * the pinned module, the SDK's download. Returns the program's path. Rejects with one line that says why each source
 * failed and what to do.
 */
export async function findTemporalProgram(search: TemporalSearch): Promise<string> {
  const failures: string[] = [];
  for (const source of [fromPath, fromEarlierBuild, fromBuild, fromDownload]) {
    try {
      const program = await source(search);
      await assertUsable(program, search);
      return program;
    } catch (error) {
      search.signal.throwIfAborted();
      failures.push((error as Error).message);
    }
  }
  throw new Error(
    `no Temporal server: ${failures.join('; ')}. Put the Temporal CLI or Go on the PATH, or set TEMPORAL_ADDRESS`,
  );
}

async function fromPath({ environment }: TemporalSearch): Promise<string> {
  return findOnPath('temporal', environment);
}

async function fromEarlierBuild({ environment }: TemporalSearch): Promise<string> {
  const program = builtTemporal(environment);
  if (!isExecutable(program)) throw new Error('no earlier build');
  return program;
}

async function fromBuild({ folder, environment, onSlowStep, signal }: TemporalSearch): Promise<string> {
  const detail = 'building the Temporal server: once per machine, usually 3 to 10 minutes';
  const onBuild = (progress: () => string) => onSlowStep({ detail, progress });
  return buildTemporal({ folder, environment, onBuild, signal });
}

async function fromDownload({ folder, environment, onSlowStep, signal }: TemporalSearch): Promise<string> {
  const downloads = join(cacheFolder(environment), 'temporal-download');
  mkdirSync(downloads, { recursive: true });
  onSlowStep({ detail: 'downloading the Temporal server' });
  const command = {
    file: process.execPath,
    args: [DOWNLOAD_PROGRAM, downloads],
    cwd: folder.path,
    env: environment,
  };
  await runToCompletion(folder, 'temporal-download', command, { signal });
  const programs = readdirSync(downloads).map((name) => join(downloads, name));
  const newest = programs.filter(isExecutable).sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
  if (!newest) throw new Error('the download contains no program');
  return newest;
}

/** Rejects a `temporal` that is too old, or another program. */
async function assertUsable(program: string, { folder, signal }: TemporalSearch): Promise<void> {
  const command = {
    file: program,
    args: ['server', 'start-dev', '--sqlite-pragma', 'journal_mode=wal', '--help'],
    cwd: folder.path,
    env: minimalEnvironment(),
  };
  await runToCompletion(folder, 'temporal-check', command, { signal }).catch((error: Error) => {
    throw new Error(`${program} cannot start a dev server: ${error.message}`);
  });
}
