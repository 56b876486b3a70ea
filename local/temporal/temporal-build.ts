import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DAY_MS } from '../../services/platform/durations.ts';
import { cacheFolder } from '../cache-folder.ts';
import type { DataFolder } from '../data-folder.ts';
import { type FileLock, tryLock } from '../file-lock.ts';
import { runToCompletion, type TrackedProcess } from '../processes/tracked-process.ts';
import { findOnPath, isExecutable } from './executables.ts';

const MODULE_FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** By the name of the program: the CLI with its dev server, the server alone, and the tool for its SQL schema. */
const PACKAGES = {
  temporal: 'github.com/temporalio/cli/cmd/temporal',
  'temporal-server': 'go.temporal.io/server/cmd/server',
  'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
} as const;
/**
 * A third less work for the compiler: no debugger symbols, no xDS, which only Google's cloud storage would use, and no
 * optimization of the clients of AWS and Kubernetes, which do not run here.
 */
export const COMPILER_FLAGS = [
  '-tags=disable_grpc_modules',
  '-gcflags=all=-dwarf=false',
  '-gcflags=github.com/aws/...=-dwarf=false -N -l',
  '-gcflags=k8s.io/...=-dwarf=false -N -l',
  '-ldflags=-s -w',
];
/** The compiler collects garbage less often, for a quarter more memory, and no C compiler is needed. */
export const COMPILER_ENVIRONMENT = { GOGC: '200', CGO_ENABLED: '0' };
const LOG_NAME = 'temporal-build';
/**
 * Template for `go list`: the packages that `go build` has to compile. It links the program itself, main, at the end.
 */
const STALE_PACKAGES = '{{if and .Stale (ne .Name "main")}}{{.ImportPath}}{{end}}';
const LOCK_POLL_MS = 500;

/** A program of the pinned module. All belong to one version of the server. */
export type TemporalProgram = keyof typeof PACKAGES;

export interface TemporalBuild {
  /** Default: `temporal`. */
  readonly program?: TemporalProgram;
  readonly folder: DataFolder;
  /** PATH, the user's cache folder, and what Go needs, such as proxies. */
  readonly environment: NodeJS.ProcessEnv;
  /** Called before Go starts. `progress` returns one line on how far the build is now. */
  readonly onBuild: (progress: () => string) => void;
  readonly signal: AbortSignal;
}

/** Where a built program is kept: one per platform and version of the pinned module, shared by a user's data folders. */
export function builtTemporal(environment: NodeJS.ProcessEnv, name: TemporalProgram = 'temporal'): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(MODULE_FOLDER, file)));
  const version = hash.digest('hex').slice(0, 16);
  const platform = `${process.platform}-${process.arch}`;
  return join(cacheFolder(environment), `temporal-${platform}-${version}`, name);
}

/**
 * Builds a program with Go from the pinned module and returns its path. While another process builds it, this waits and
 * returns that build. It builds a temporary file and renames it, so that a killed build leaves no broken program.
 */
export async function buildTemporal(build: TemporalBuild): Promise<string> {
  const go = findOnPath('go', build.environment);
  const program = builtTemporal(build.environment, build.program);
  mkdirSync(dirname(program), { recursive: true });
  removeAbandonedBuilds(dirname(program));
  let progress = () => 'starting Go';
  build.onBuild(() => progress());
  const report = (current: () => string) => {
    progress = current;
  };
  const lockPath = `${program}.lock`;
  using lock = tryLock(lockPath);
  if (lock) {
    await compile(build, go, program, report);
    return program;
  }
  report(() => 'another process on this machine is building it');
  using _later = await whenLocked(lockPath, build.signal);
  // Absent if the other process failed, or was killed.
  if (!isExecutable(program)) await compile(build, go, program, report);
  return program;
}

async function compile(
  build: TemporalBuild,
  go: string,
  program: string,
  report: (progress: () => string) => void,
): Promise<void> {
  const target = PACKAGES[build.program ?? 'temporal'];
  const list = await runGo(
    build,
    go,
    ['list', '-deps', '-f', STALE_PACKAGES, '-mod=readonly', ...COMPILER_FLAGS, target],
    (list) => report(() => downloadProgress(list)),
  );
  const total = packagesIn(list);
  const unfinished = `${program}.${randomUUID()}.tmp`;
  try {
    const args = ['build', '-v', '-mod=readonly', ...COMPILER_FLAGS, '-o', unfinished, target];
    await runGo(build, go, args, (compile) => report(() => compileProgress(compile, total)));
    renameSync(unfinished, program);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

async function whenLocked(path: string, signal: AbortSignal): Promise<FileLock> {
  for (;;) {
    const lock = tryLock(path);
    if (lock) return lock;
    await delay(LOCK_POLL_MS, undefined, { signal });
  }
}

async function runGo(
  { folder, environment, signal }: TemporalBuild,
  go: string,
  args: readonly string[],
  onStart: (process: TrackedProcess) => void,
): Promise<TrackedProcess> {
  const env = { ...COMPILER_ENVIRONMENT, ...environment, GOWORK: 'off' };
  const command = { file: go, args, cwd: MODULE_FOLDER, env, niceness: 19 };
  return runToCompletion(folder, LOG_NAME, command, { signal, onStart });
}

function downloadProgress(list: TrackedProcess): string {
  const modules = list.logLines().filter((line) => line.startsWith('go: downloading ')).length;
  return modules === 0 ? 'resolving Go modules' : `downloading Go modules: ${modules} so far`;
}

/** `go build -v` prints each package when it starts to compile it. */
function compileProgress(compile: TrackedProcess, total: number): string {
  const started = packagesIn(compile);
  return started < total ? `compiling package ${started} of ${total}` : 'linking';
}

/** Go prints packages as lines of one word; messages have several. */
function packagesIn(process: TrackedProcess): number {
  return process.logLines().filter((line) => /^\S+$/.test(line)).length;
}

function removeAbandonedBuilds(folder: string): void {
  for (const path of readdirSync(folder).map((name) => join(folder, name))) {
    const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (path.endsWith('.tmp') && Date.now() - modified > DAY_MS) rmSync(path, { force: true });
  }
}
