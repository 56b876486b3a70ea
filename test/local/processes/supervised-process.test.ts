import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { DataFolder } from '../../../local/data-folder.ts';
import { identifyProcess } from '../../../local/processes/process-identity.ts';
import { type SupervisedOptions, SupervisedProcess } from '../../../local/processes/supervised-process.ts';
import {
  type ChildCommand,
  runToCompletion,
  stopOrphans,
  TrackedProcess,
} from '../../../local/processes/tracked-process.ts';
import { temporaryDataFolder } from '../temporary-data-folder.ts';

const RUN_FOREVER = 'setInterval(() => {}, 1000)';

function newFolder(): DataFolder {
  const data = temporaryDataFolder();
  onTestFinished(() => data[Symbol.dispose]());
  return data.folder;
}

function script(folder: DataFolder, text: string): ChildCommand {
  return { file: process.execPath, args: ['-e', text], cwd: folder.path, env: process.env };
}

function supervise(folder: DataFolder, text: string, more: Partial<SupervisedOptions> = {}) {
  const supervised = new SupervisedProcess({
    folder,
    name: 'child',
    label: 'The child',
    command: script(folder, text),
    ready: () => delay(50),
    ...more,
  });
  onTestFinished(() => supervised.stop());
  return supervised;
}

const expectEnded = (pid: number) => expect(identifyProcess(pid)).toBeUndefined();

test('a killed child is restarted until stop', async () => {
  const onDown = vi.fn();
  const child = supervise(newFolder(), RUN_FOREVER, { onDown });
  await child.start();
  const first = child.pid!;
  process.kill(first, 'SIGKILL');
  await vi.waitFor(() => expect(child.pid).not.toBe(first), 40_000);
  expect(onDown).toHaveBeenCalledWith('The child ended with signal SIGKILL');
  const second = child.pid!;
  await child.stop();
  expectEnded(second);
  await delay(500);
  expect(child.pid).toBe(second);
});

test('a child that keeps dying is restarted with growing delays', async () => {
  const delays: number[] = [];
  let downSince = 0;
  const child = supervise(newFolder(), 'process.exit(3)', {
    prepare: async () => {
      if (downSince) delays.push(Date.now() - downSince);
    },
    onDown: () => {
      downSince = Date.now();
    },
  });
  child.startInBackground();
  await vi.waitFor(() => expect(delays.length).toBe(3), 40_000);
  // Timers are rarely early, and late on a busy machine.
  expect(delays[0]).toBeGreaterThanOrEqual(190);
  expect(delays[1]).toBeGreaterThanOrEqual(390);
  expect(delays[2]).toBeGreaterThanOrEqual(790);
});

test('a failed first start reports how the child ended and its last log line', async () => {
  const child = supervise(newFolder(), 'console.error("fatal: no disk"); process.exit(3)', {
    ready: () => delay(10_000, undefined, { ref: false }),
  });
  await expect(child.start()).rejects.toMatchObject({
    reason: 'CHILD_DID_NOT_START',
    message: expect.stringContaining('The child did not start (exit code 3): fatal: no disk'),
  });
});

test('a missing program is a failed start', async () => {
  const folder = newFolder();
  const command = { ...script(folder, ''), file: '/nowhere/program' };
  await expect(supervise(folder, '', { command }).start()).rejects.toThrow('ENOENT');
});

test('a child that ignores its stop signal is killed', async () => {
  const folder = newFolder();
  const text = `process.on("SIGTERM", () => {}); ${RUN_FOREVER}`;
  const stopSteps = [{ signal: 'SIGTERM', waitMs: 300 }] as const;
  const child = new TrackedProcess(folder, 'deaf', { ...script(folder, text), stopSteps });
  await delay(300);
  await child.stop();
  expect(await child.ended).toBe('signal SIGKILL');
});

test('an orphaned child is found by its pid file and stopped', async () => {
  const folder = newFolder();
  const child = new TrackedProcess(folder, 'child', script(folder, RUN_FOREVER));
  const log = vi.fn();
  await stopOrphans(folder, log);
  expectEnded(child.pid!);
  expect(log).toHaveBeenCalledOnce();
  await stopOrphans(folder, log);
  expect(log).toHaveBeenCalledOnce();
});

test('a process that reuses the pid of an orphan is not stopped', async () => {
  const folder = newFolder();
  const bystander = new TrackedProcess(folder, 'bystander', script(folder, RUN_FOREVER));
  const record = JSON.parse(folder.read('run/bystander.pid')!);
  folder.write('run/child.pid', JSON.stringify({ ...record, startedAt: 'at another time' }));
  folder.write('run/bystander.pid', 'not a record');
  await stopOrphans(folder, () => undefined);
  expect(identifyProcess(bystander.pid!)).toBeDefined();
  await bystander.stop();
});

test('a failed program is reported with its last log line of this run', async () => {
  const folder = newFolder();
  await runToCompletion(folder, 'program', script(folder, 'console.log("error of the first run")'));
  const failing = runToCompletion(folder, 'program', script(folder, 'throw new Error("out of luck")'));
  await expect(failing).rejects.toThrow(/^program: exit code 1: .*out of luck/);
  const text = 'console.log("go: no such module\\ngithub.com/pkg/errors"); process.exit(2)';
  const building = runToCompletion(folder, 'program', script(folder, text));
  await expect(building).rejects.toThrow(/^program: exit code 2: go: no such module$/);
});

test('an abort stops a program and its children', async () => {
  const folder = newFolder();
  const stop = new AbortController();
  const nested = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(RUN_FOREVER)}])`;
  const text = `const child = ${nested}; console.log(child.pid); ${RUN_FOREVER}`;
  const running = runToCompletion(folder, 'running', script(folder, text), { signal: stop.signal });
  const grandchild = await vi.waitFor(() => {
    const pid = Number(folder.read('logs/running.log'));
    expect(pid).toBeGreaterThan(0);
    return pid;
  }, 120_000);
  stop.abort();
  await expect(running).rejects.toThrow('aborted');
  await vi.waitFor(() => expectEnded(grandchild), 40_000);
});
