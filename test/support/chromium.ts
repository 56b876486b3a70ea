import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';
import { cacheFolder } from '../../local/cache-folder.ts';

const PACKAGE = '@sparticuz/chromium';
const INSTALLED = ['chromium', 'chromium-browser', 'google-chrome'];

/** Resolves no host name, so that a page that asks another host is refused. */
const NO_OTHER_HOSTS = '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1, EXCLUDE localhost';

const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

let shared: Promise<Browser> | undefined;

/**
 * The browser of this worker process, started on first use; it resolves no host name but localhost. Each test opens
 * its own context. The browser ends with the worker.
 */
export function sharedChromium(): Promise<Browser> {
  shared ??= launchChromium({ args: [NO_OTHER_HOSTS] });
  return shared;
}

/**
 * Starts the browser at CHROMIUM_PATH, else the one in the package of Chromium, which uses half the processor time of an
 * installed one, else, where the package has none for the machine, one on the PATH.
 */
export async function launchChromium({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> {
  const installed = process.env.CHROMIUM_PATH || (hasPackage ? undefined : installedChromium());
  if (installed) {
    return chromium.launch({ ...options, executablePath: installed, args: ['--no-sandbox', ...args] });
  }
  const folder = await unpackedChromium();
  return chromium.launch({
    ...options,
    executablePath: join(folder, 'chromium'),
    args: ['--no-sandbox', '--no-zygote', ...args],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
    },
  });
}

const hasPackage = process.platform === 'linux' && process.arch === 'x64';

const installedChromium = () =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => INSTALLED.map((name) => join(folder, name)))
    .find((path) => existsSync(path));

/** The package's files, unpacked once per version; test files that ask at the same time share the result. */
async function unpackedChromium(): Promise<string> {
  const { version } = createRequire(import.meta.url)(
    join(import.meta.dirname, '../../node_modules', PACKAGE, 'package.json'),
  );
  const folder = join(cacheFolder(process.env), `chromium-package-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(cacheFolder(process.env), { recursive: true });
  const unfinished = await mkdtemp(`${folder}-`);
  // The package unpacks to the folder for temporary files, and its system libraries only where it sees AWS Lambda.
  const program = `import('${PACKAGE}').then(({ default: chromium }) => chromium.executablePath())`;
  await promisify(execFile)(process.execPath, ['-e', program], {
    cwd: import.meta.dirname,
    env: { ...process.env, TMPDIR: unfinished, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
  });
  // The package's own configuration names folders of AWS Lambda only.
  await writeFile(join(unfinished, 'fonts', 'fonts.conf'), FONTS);
  await rename(unfinished, folder).catch(async (error: unknown) => {
    await rm(unfinished, { recursive: true });
    if (!existsSync(folder)) throw error;
  });
  return folder;
}
