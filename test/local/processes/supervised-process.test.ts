import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { DataFolder } from '../../../local/data-folder.ts';
import { identifyProcess } from '../../../local/processes/process-identity.ts';
import { type SupervisedOptions, SupervisedProcess } from '../../../local/processes/supervised-process.ts';
import {
  type ChildCommand,
  RecordedChild,
  runToEnd,
  stopLeftOvers,
} from '../../../local/processes/tracked-process.ts';
import { temporaryDataFolder } from '../temporary-data-folder.ts';

const LASTING = 'setInterval(() => {}, 1000)';

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
    name: 'part',
    label: 'The part',
    command: script(folder, text),
    ready: () => delay(50),
    ...more,
  });
  onTestFinished(() => supervised.stop());
  return supervised;
}

const isGone = (pid: number) => () => expect(identifyProcess(pid)).toBeUndefined();

test('a child that is killed is started again, and is gone after stop', async () => {
  const onDown = vi.fn();
  const part = supervise(newFolder(), LASTING, { onDown });
  await part.start();
  const first = part.pid!;
  process.kill(first, 'SIGKILL');
  await vi.waitFor(() => expect(part.pid).not.toBe(first), 10_000);
  expect(onDown).toHaveBeenCalledWith('The part ended with signal SIGKILL');
  const second = part.pid!;
  await part.stop();
  isGone(second)();
  await delay(500);
  expect(part.pid).toBe(second);
});

test('a child that keeps dying is started less and less often', async () => {
  const starts: number[] = [];
  const part = supervise(newFolder(), 'process.exit(3)', {
    prepare: async () => void starts.push(Date.now()),
  });
  part.startInBackground();
  await vi.waitFor(() => expect(starts.length).toBe(4), 10_000);
  expect(starts[3]! - starts[2]!).toBeGreaterThan((starts[1]! - starts[0]!) * 1.5);
});

test('a first start that fails says how it ended and its last words', async () => {
  const part = supervise(newFolder(), 'console.error("fatal: no disk"); process.exit(3)', {
    ready: () => delay(10_000, undefined, { ref: false }),
  });
  await expect(part.start()).rejects.toMatchObject({
    reason: 'CHILD_DID_NOT_START',
    message: expect.stringContaining('The part did not start (exit code 3): fatal: no disk'),
  });
});

test('a program that is not there is a failed start', async () => {
  const folder = newFolder();
  const command = { ...script(folder, ''), file: '/nowhere/program' };
  await expect(supervise(folder, '', { command }).start()).rejects.toThrow('ENOENT');
});

test('a child deaf to the gentle signal is killed', async () => {
  const folder = newFolder();
  const text = `process.on("SIGTERM", () => {}); ${LASTING}`;
  const stopSteps = [{ signal: 'SIGTERM', waitMs: 300 }] as const;
  const child = new RecordedChild(folder, 'deaf', { ...script(folder, text), stopSteps });
  await delay(300);
  await child.stop();
  expect(await child.ended).toBe('signal SIGKILL');
});

test('a child that runs though its start was given up is found by its pid file and stopped', async () => {
  const folder = newFolder();
  const child = new RecordedChild(folder, 'part', script(folder, LASTING));
  const log = vi.fn();
  await stopLeftOvers(folder, log);
  isGone(child.pid!)();
  expect(log).toHaveBeenCalledOnce();
  await stopLeftOvers(folder, log);
  expect(log).toHaveBeenCalledOnce();
});

test('a process that got the number of a left-over is not touched', async () => {
  const folder = newFolder();
  const bystander = new RecordedChild(folder, 'bystander', script(folder, LASTING));
  const record = JSON.parse(folder.read('run/bystander.pid')!);
  folder.write('run/part.pid', JSON.stringify({ ...record, startedAt: 'at another time' }));
  folder.write('run/bystander.pid', 'not a record');
  await stopLeftOvers(folder, () => undefined);
  expect(identifyProcess(bystander.pid!)).toBeDefined();
  await bystander.stop();
});

test('a program run to its end rejects with its last words, and an abort stops all of it', async () => {
  const folder = newFolder();
  await runToEnd(folder, 'fine', script(folder, ''));
  const failing = runToEnd(folder, 'failing', script(folder, 'throw new Error("out of luck")'));
  await expect(failing).rejects.toThrow(/^failing: exit code 1: .*out of luck/);
  const stop = new AbortController();
  const nested = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(LASTING)}])`;
  const text = `const child = ${nested}; console.log(child.pid); ${LASTING}`;
  const lasting = runToEnd(folder, 'lasting', script(folder, text), stop.signal);
  const grandchild = await vi.waitFor(() => {
    const pid = Number(folder.read('logs/lasting.log'));
    expect(pid).toBeGreaterThan(0);
    return pid;
  }, 10_000);
  stop.abort();
  await expect(lasting).rejects.toThrow('aborted');
  await vi.waitFor(isGone(grandchild), 10_000);
});
