import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../cache-folder.ts';
import type { DataFolder } from '../data-folder.ts';
import { runToCompletion, type TrackedProcess } from '../processes/tracked-process.ts';
import { findOnPath } from './executables.ts';

const MODULE_FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** By the name of the program: the CLI with its dev server, the server alone, and the tool for its SQL schema. */
const PACKAGES = {
  temporal: 'github.com/temporalio/cli/cmd/temporal',
  'temporal-server': 'go.temporal.io/server/cmd/server',
  'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
} as const;
/** A fifth less work for the compiler: no debugger symbols, and no xDS, which only Google's cloud storage would use. */
export const COMPILER_FLAGS = ['-tags=disable_grpc_modules', '-gcflags=all=-dwarf=false', '-ldflags=-s -w'];
const LOG_NAME = 'temporal-build';
/**
 * Template for `go list`: the packages that `go build` has to compile. It links the program itself, main, at the end.
 */
const STALE_PACKAGES = '{{if and .Stale (ne .Name "main")}}{{.ImportPath}}{{end}}';
const DAY_MS = 24 * 60 * 60 * 1000;

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
  for (const name of ['go.mod', 'go.sum']) hash.update(readFileSync(join(MODULE_FOLDER, name)));
  const version = hash.digest('hex').slice(0, 16);
  const platform = `${process.platform}-${process.arch}`;
  return join(cacheFolder(environment), `temporal-${platform}-${version}`, name);
}

/**
 * Builds a program with Go from the pinned module and returns its path. It builds a temporary file
 * and renames it, so that parallel builds both succeed and a killed one leaves no broken program.
 */
export async function buildTemporal(build: TemporalBuild): Promise<string> {
  const go = findOnPath('go', build.environment);
  const { program: name = 'temporal' } = build;
  const program = builtTemporal(build.environment, name);
  mkdirSync(dirname(program), { recursive: true });
  removeAbandonedBuilds(dirname(program));
  let progress = () => 'starting Go';
  build.onBuild(() => progress());

  const list = await runGo(
    build,
    go,
    ['list', '-deps', '-f', STALE_PACKAGES, '-mod=readonly', ...COMPILER_FLAGS, PACKAGES[name]],
    (list) => {
      progress = () => downloadProgress(list);
    },
  );
  const total = packagesIn(list);
  const unfinished = `${program}.${randomUUID()}.tmp`;
  try {
    const args = ['build', '-v', '-mod=readonly', ...COMPILER_FLAGS, '-o', unfinished, PACKAGES[name]];
    await runGo(build, go, args, (compile) => {
      progress = () => compileProgress(compile, total);
    });
    renameSync(unfinished, program);
  } finally {
    rmSync(unfinished, { force: true });
  }
  return program;
}

async function runGo(
  { folder, environment, signal }: TemporalBuild,
  go: string,
  args: readonly string[],
  onStart: (process: TrackedProcess) => void,
): Promise<TrackedProcess> {
  const env = { ...environment, GOWORK: 'off' };
  const command = { file: go, args, cwd: MODULE_FOLDER, env, lowPriority: true };
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
