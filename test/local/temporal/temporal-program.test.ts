import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { DataFolder } from '../../../local/data-folder.ts';
import { buildTemporal } from '../../../local/temporal/temporal-build.ts';
import { findTemporalProgram, type SlowStep } from '../../../local/temporal/temporal-program.ts';
import { TEMPORAL_START_MS, temporalProgram } from '../../support/temporal.ts';
import { temporaryDataFolder } from '../temporary-data-folder.ts';
import { createFakeMachine, fakeGoScript } from './fake-go.ts';

const NOTICE = 'building the Temporal server: once per machine, usually 3 to 10 minutes';

let program: string;

beforeAll(async () => {
  program = await temporalProgram();
}, TEMPORAL_START_MS);

function machine() {
  const data = temporaryDataFolder();
  const fake = createFakeMachine();
  onTestFinished(() => {
    data[Symbol.dispose]();
    fake.remove();
  });
  return { ...fake, folder: data.folder };
}

/** What builds leave beside the program, but for their lock. */
const filesOf = (built: string) => readdirSync(dirname(built)).filter((name) => !name.includes('.lock'));

const finish = () => `ln -s '${program}' "$out"`;

function search(
  folder: DataFolder,
  environment: NodeJS.ProcessEnv,
  { signal = new AbortController().signal, onSlowStep = (_step: SlowStep) => {} } = {},
): Promise<string> {
  return findTemporalProgram({ folder, environment, onSlowStep, signal });
}

test('a temporal on the PATH takes precedence', async () => {
  const { bin, environment, folder, install } = machine();
  symlinkSync(program, join(bin, 'temporal'));
  install('go', 'exit 1');
  expect(await search(folder, environment)).toBe(join(bin, 'temporal'));
});

test('another program called temporal is skipped in favor of an earlier build', async () => {
  const { environment, folder, install, built } = machine();
  install('temporal', 'echo "unknown command" >&2; exit 64');
  mkdirSync(dirname(built), { recursive: true });
  symlinkSync(program, built);
  expect(await search(folder, environment)).toBe(built);
});

test('the first search builds the pinned module, and the next one uses the build', async () => {
  const { environment, folder, install, built } = machine();
  install('go', fakeGoScript(finish()));
  const onSlowStep = vi.fn();
  expect(await search(folder, environment, { onSlowStep })).toBe(built);
  expect(onSlowStep).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ detail: NOTICE }));
  install('go', 'exit 1');
  expect(await search(folder, environment, { onSlowStep })).toBe(built);
  expect(onSlowStep).toHaveBeenCalledOnce();
});

test('a build reports downloads, then packages out of those to compile, then linking', async () => {
  const { environment, folder, install, waitFor, signal } = machine();
  const build = [
    'echo example.com/a; echo example.com/b',
    waitFor('linking'),
    'echo example.com/c',
    waitFor('end'),
  ];
  install('go', fakeGoScript([...build, finish()].join('\n'), waitFor('compiling')));
  let progress = () => '';
  const onSlowStep = (step: SlowStep) => {
    progress = step.progress!;
  };
  const searching = search(folder, environment, { onSlowStep });
  const expectProgress = (line: string) => vi.waitFor(() => expect(progress()).toBe(line), 40_000);
  await expectProgress('downloading Go modules: 1 so far');
  signal('compiling');
  await expectProgress('compiling package 2 of 3');
  signal('linking');
  await expectProgress('linking');
  signal('end');
  await searching;
});

test('without Go, a build is not possible', async () => {
  const { environment, folder } = machine();
  const { signal } = new AbortController();
  const build = {
    folder,
    environment: { ...environment, PATH: '/nowhere' },
    onBuild: () => undefined,
    signal,
  };
  await expect(buildTemporal(build)).rejects.toThrow('no go on the PATH');
});

test('a search waits for the build of another and uses it, or builds itself if that one is stopped', async () => {
  const { environment, folder, install, built, waitFor, signal } = machine();
  const { folder: other } = machine();
  install('go', fakeGoScript(`touch "$out"; ${waitFor('end')}\nrm "$out"; ${finish()}`));
  const stop = new AbortController();
  const stopped = search(folder, environment, { signal: stop.signal });
  await vi.waitFor(
    () => expect(filesOf(built)).toEqual([expect.stringMatching(/^temporal\..*\.tmp$/)]),
    40_000,
  );
  const waiting = vi.fn();
  const second = search(other, environment, { onSlowStep: waiting });
  await vi.waitFor(() => expect(waiting).toHaveBeenCalled());
  expect(waiting.mock.lastCall![0].progress()).toBe('another process on this machine is building it');

  stop.abort();
  await expect(stopped).rejects.toThrow('aborted');
  await vi.waitFor(() => expect(filesOf(built)).toHaveLength(1), 40_000);
  const third = search(folder, environment);
  signal('end');
  expect(await second).toBe(built);
  install('go', 'exit 1');
  expect(await third).toBe(built);
  expect(filesOf(built)).toEqual(['temporal']);
});

test('a stopped build ends at once and leaves no files', async () => {
  const { environment, folder, install, built } = machine();
  install('go', fakeGoScript('touch "$out"; sleep 60'));
  const stop = new AbortController();
  const searching = search(folder, environment, { signal: stop.signal });
  await vi.waitFor(() => expect(filesOf(built)).toHaveLength(1), 40_000);
  stop.abort();
  await expect(searching).rejects.toThrow('aborted');
  expect(filesOf(built)).toEqual([]);
});

test('when every source fails, one line gives the reasons', async () => {
  const { environment, folder, install } = machine();
  install(
    'go',
    fakeGoScript('echo example.com/errors; echo "error: no network" >&2; echo example.com/c; exit 1'),
  );
  await expect(search(folder, environment)).rejects.toThrow(
    /^no Temporal server: no temporal on the PATH; no earlier build; temporal-build: exit code 1: error: no network; temporal-download: exit code 1: [^\n]*\. Put the Temporal CLI or Go on the PATH, or set TEMPORAL_ADDRESS$/,
  );
});
