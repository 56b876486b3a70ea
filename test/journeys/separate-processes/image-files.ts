import { execFile } from 'node:child_process';
import { copyFile, cp, link, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Left out when copying: packages below it are separate entries in the lock file. */
const NESTED = 'node_modules';
const BUNDLES = 'workflow-bundles';
const run = promisify(execFile);

/** A folder with the files of the image and no others, outside the repository, so that nothing else can be imported. */
export interface ImageFiles extends AsyncDisposable {
  readonly folder: string;
  /** The variables that the Dockerfile sets. */
  readonly env: Readonly<Record<string, string>>;
  /** Files and folders that have been written since. A container's are read-only. */
  changed(): Promise<string[]>;
}

/**
 * Copies what the Dockerfile copies, and the packages that `npm ci --omit=dev` installs, and runs its last steps.
 * @param options.root the folder of the repository, at this or another release. Default: this one.
 * @param options.bundles a folder with its workflow code bundled, which is copied instead of running those steps.
 */
export async function copyImageFiles({
  root = ROOT,
  bundles,
}: {
  readonly root?: string;
  readonly bundles?: string;
} = {}): Promise<ImageFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'payments-image-'));
  const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
  for (const source of copiedSources(dockerfile)) {
    const target = join(folder, source);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(root, source), target, { recursive: true });
  }
  await installPackages(root, folder);
  const { env, steps } = lastStage(dockerfile, folder);
  if (bundles) await cp(bundles, join(folder, BUNDLES), { recursive: true });
  else for (const args of steps) await run(process.execPath, args, { cwd: folder });
  const copiedAt = Date.now();
  return {
    folder,
    env,
    async changed() {
      const paths = (await readdir(folder, { recursive: true })).filter((path) => !path.startsWith(NESTED));
      const times = await Promise.all(
        [...paths, ''].map(async (path) => ({ path, ...(await changeOf(join(folder, path))) })),
      );
      return times.filter(({ changedAt }) => changedAt > copiedAt).map(({ path }) => path);
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

const changeOf = async (path: string) => ({ changedAt: (await stat(path)).mtimeMs });

/** The sources of COPY that come from the repository. */
function copiedSources(dockerfile: string): string[] {
  const lines = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)];
  return [...new Set(lines.flatMap(([, sources]) => sources!.split(' ')))];
}

/** Of the stage that is the image: variables, and the arguments of what Node.js runs. */
function lastStage(dockerfile: string, folder: string) {
  const [, stage] = /^FROM (?!.* AS )([\s\S]*)/m.exec(dockerfile)!;
  const pairs = [...stage!.matchAll(/^ENV (.+)$/gm)].flatMap(([, line]) => line!.split(' '));
  return {
    env: Object.fromEntries(pairs.map((pair) => pair.replace('/app', folder).split('='))),
    steps: [...stage!.matchAll(/^RUN node (.+)$/gm)].map(([, args]) => args!.split(' ')),
  };
}

/** Links the packages of this repository. A release with others installs its own. */
async function installPackages(root: string, folder: string): Promise<void> {
  const [lock, own] = await Promise.all(
    [root, ROOT].map((path) => readFile(join(path, 'package-lock.json'), 'utf8')),
  );
  if (lock === own) {
    for (const path of await productionPackages(own!)) await linkFiles(join(ROOT, path), join(folder, path));
  } else {
    await run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  }
}

/** The folders of installed packages that production needs. */
async function productionPackages(lock: string): Promise<string[]> {
  const { packages } = JSON.parse(lock);
  const entries: [string, { dev?: boolean; link?: boolean }][] = Object.entries(packages);
  const paths = entries
    .filter(([path, { dev, link }]) => path.startsWith(NESTED) && !dev && !link)
    .map(([path]) => path);
  const installed = await Promise.all(
    paths.map((path) =>
      stat(join(ROOT, path)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return paths.filter((_, index) => installed[index]);
}

/** Links a package's files, which takes no space; copies them to another file system. */
async function linkFiles(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  const entries = await readdir(source, { withFileTypes: true });
  await Promise.all(
    entries.map(async (entry) => {
      const [from, to] = [join(source, entry.name), join(target, entry.name)];
      if (entry.isDirectory()) return entry.name === NESTED ? undefined : linkFiles(from, to);
      if (entry.isFile()) await link(from, to).catch(() => copyFile(from, to));
    }),
  );
}
