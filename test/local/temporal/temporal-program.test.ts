import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { DataFolder } from '../../../local/data-folder.ts';
import { builtTemporal, findTemporalProgram } from '../../../local/temporal/temporal-program.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { makeFolder, temporaryDataFolder } from '../temporary-data-folder.ts';

const SYSTEM_PATH = ['/usr/bin', '/bin'].join(delimiter);
/** A real server, found or built as `npm start` does. */
let realTemporal: string;

beforeAll(async () => {
  using data = temporaryDataFolder();
  realTemporal = await search(data.folder, process.env);
}, TEMPORAL_START_MS);

/** A machine with an empty cache and only these programs. */
function machine() {
  const home = makeFolder();
  const data = temporaryDataFolder();
  onTestFinished(() => {
    data[Symbol.dispose]();
    home.remove();
  });
  const bin = join(home.path, 'bin');
  mkdirSync(bin);
  const environment = {
    PATH: [bin, SYSTEM_PATH].join(delimiter),
    XDG_CACHE_HOME: join(home.path, 'cache'),
    HTTPS_PROXY: 'http://127.0.0.1:1',
    BUILDS: join(home.path, 'builds'),
  };
  const install = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  return { bin, environment, folder: data.folder, install, built: builtTemporal(environment) };
}

/** Stands for the compiler, which would take minutes: writes a real server to the path after -o. */
const GO = (waitSeconds: number) => `echo "$@" >> "$BUILDS"; sleep ${waitSeconds}; cp ${realTemporal} "$4"`;

function search(
  folder: DataFolder,
  environment: NodeJS.ProcessEnv,
  { signal = new AbortController().signal, onSlowStep = (_detail: string) => {} } = {},
): Promise<string> {
  return findTemporalProgram({ folder, environment, onSlowStep, signal });
}

test('a temporal on the PATH comes first', async () => {
  const { bin, environment, folder, install } = machine();
  symlinkSync(realTemporal, join(bin, 'temporal'));
  install('go', 'exit 1');
  expect(await search(folder, environment)).toBe(join(bin, 'temporal'));
});

test('a temporal on the PATH that is something else is passed over for one built before', async () => {
  const { environment, folder, install, built } = machine();
  install('temporal', 'echo "unknown command" >&2; exit 64');
  mkdirSync(dirname(built), { recursive: true });
  copyFileSync(realTemporal, built);
  expect(await search(folder, environment)).toBe(built);
});

test('the first search builds the pinned module and the next takes what was built', async () => {
  const { environment, folder, install, built } = machine();
  install('go', GO(0));
  const onSlowStep = vi.fn();
  expect(await search(folder, environment, { onSlowStep })).toBe(built);
  expect(onSlowStep).toHaveBeenCalledOnce();
  install('go', 'exit 1');
  expect(await search(folder, environment, { onSlowStep })).toBe(built);
  expect(onSlowStep).toHaveBeenCalledOnce();
});

test('two builds at once both end with the program and leave nothing else', async () => {
  const { environment, folder, install, built } = machine();
  const { folder: other } = machine();
  install('go', GO(0.3));
  expect(await Promise.all([search(folder, environment), search(other, environment)])).toEqual([
    built,
    built,
  ]);
  expect(readdirSync(dirname(built))).toEqual(['temporal']);
});

test('a build that is stopped ends at once and leaves nothing half made', async () => {
  const { environment, folder, install, built } = machine();
  install('go', `touch "$4"; ${GO(60)}`);
  const stop = new AbortController();
  const searching = search(folder, environment, { signal: stop.signal });
  await vi.waitFor(() => expect(existsSync(environment.BUILDS)).toBe(true), 10_000);
  await delay(50);
  stop.abort();
  await expect(searching).rejects.toThrow('aborted');
  expect(readdirSync(dirname(built))).toEqual([]);
});

test('when all ways fail the reasons stand on one line', async () => {
  const { environment, folder, install } = machine();
  install('go', 'echo "error: no network" >&2; exit 1');
  await expect(search(folder, environment)).rejects.toThrow(
    /^no Temporal server: no temporal on the PATH; none built before; temporal-build: exit code 1: error: no network; temporal-download: exit code 1: [^\n]*$/,
  );
});
