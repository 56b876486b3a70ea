import type { AddressInfo } from 'node:net';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { DataFolder } from '../../../local/data-folder.ts';
import { waitForSystem } from '../../../local/demo/wait-for-system.ts';
import { findFreePort } from '../../../local/ports.ts';
import { temporalReadiness } from '../../../local/temporal/temporal-readiness.ts';
import { TemporalServer } from '../../../local/temporal/temporal-server.ts';
import { createOpsServer } from '../../../services/platform/process/ops-server.ts';
import { TEMPORAL_START_MS, temporalProgram } from '../../support/temporal.ts';
import { createFakeMachine, type FakeMachine, fakeGoScript } from '../temporal/fake-go.ts';
import { makeFolder } from '../temporary-data-folder.ts';

const BUILDING =
  'npm start is not ready to deliver webhooks: building the Temporal server: once per machine, usually 3 to 10 minutes';

let program: string;

beforeAll(async () => {
  program = await temporalProgram();
}, TEMPORAL_START_MS);

function newDataDir(): string {
  const { path, remove } = makeFolder();
  onTestFinished(remove);
  return path;
}

/** A machine whose `go build` compiles two of three packages, then waits for the signal to end. */
function newMachine(): FakeMachine {
  const machine = createFakeMachine();
  onTestFinished(() => machine.remove());
  const compile = 'echo example.com/a; echo example.com/b';
  machine.install('go', fakeGoScript(`${compile}\n${machine.waitFor('end')}\nln -s '${program}' "$out"`));
  return machine;
}

/** The parts of `npm start` that the demo observes: the lock, the Temporal server, /readyz and demo.json. */
async function startParts(dataDir: string, { environment }: FakeMachine) {
  const folder = DataFolder.open(dataDir);
  const temporal = new TemporalServer({
    folder,
    namespace: 'default',
    port: await findFreePort(),
    environment,
  });
  let isWorkerConnected = false;
  const ready = async () => temporalReadiness('up', isWorkerConnected, temporal.status);
  const ops = createOpsServer({ ready });
  await ops.listen({ host: '127.0.0.1', port: 0 });
  const stop = async () => {
    await ops.close();
    await temporal.stop();
    folder.close();
  };
  let stopping: Promise<void> | undefined;
  const stopOnce = () => {
    stopping ??= stop();
    return stopping;
  };
  onTestFinished(stopOnce);
  const baseUrl = `http://127.0.0.1:${(ops.server.address() as AddressInfo).port}`;
  return {
    folder,
    temporal,
    stop: stopOnce,
    writeDemoFile: () => folder.write('demo.json', JSON.stringify({ operations: { baseUrl } })),
    baseUrl,
    connectWorker: () => {
      isWorkerConnected = true;
    },
  };
}

function startWaiting(dataDir: string, restartLimitMs = 30_000) {
  const lines: string[] = [];
  const progress: string[] = [];
  const done = waitForSystem({
    dataDir,
    print: (line) => lines.push(line),
    printProgress: (line) => progress.push(line),
    restartLimitMs,
  });
  done.catch(() => undefined);
  return { lines, progress, done };
}

test('rejects with one line when the build is killed and nothing else provides a server', async () => {
  const [dataDir, machine] = [newDataDir(), newMachine()];
  const system = await startParts(dataDir, machine);
  system.writeDemoFile();
  const { progress, done } = startWaiting(dataDir);
  await vi.waitFor(() => expect(progress.at(-1)).toContain('compiling'), 40_000);
  const { pid } = JSON.parse(system.folder.read('run/temporal-build.pid')!);
  process.kill(-pid, 'SIGKILL');
  await expect(done).rejects.toThrow(
    /^npm start cannot deliver webhooks: no Temporal server: .*; temporal-build: signal SIGKILL; temporal-download: [^\n]*set TEMPORAL_ADDRESS$/,
  );
});

test('waits for the first start, a restart on another address, the build and the worker', async () => {
  const [dataDir, machine] = [newDataDir(), newMachine()];
  const first = await startParts(dataDir, machine);
  const { lines, progress, done } = startWaiting(dataDir);
  await vi.waitFor(() => expect(lines).toEqual(['npm start is starting and writes its demo data']), 5_000);
  first.writeDemoFile();
  await vi.waitFor(() => expect(lines.at(-1)).toBe(BUILDING), 40_000);
  await first.stop();
  const stopped = 'npm start has stopped: start it again within 30 s to continue';
  await vi.waitFor(() => expect(lines.at(-1)).toBe(stopped), 5_000);

  const second = await startParts(dataDir, machine);
  await vi.waitFor(() => expect(lines.at(-1)).toBe('npm start is starting'), 5_000);
  second.writeDemoFile();
  await vi.waitFor(() => expect(lines.at(-1)).toBe(BUILDING), 40_000);
  const compiling = expect.stringMatching(/^\d+ s {2}compiling package 2 of 3$/);
  await vi.waitFor(() => expect(progress.at(-1)).toEqual(compiling), 40_000);
  machine.signal('end');
  const connecting = 'waiting for the worker to connect to Temporal';
  await vi.waitFor(() => expect(lines.at(-1)).toBe(connecting), 20_000);
  second.connectWorker();
  expect(await done).toEqual({ operations: { baseUrl: second.baseUrl } });
});

test('rejects with one line when npm start does not run, or does not come back', async () => {
  const [dataDir, machine] = [newDataDir(), newMachine()];
  const notRunning = `npm start is not running on DATA_DIR ${dataDir}: run it in another terminal`;
  await expect(startWaiting(dataDir).done).rejects.toThrow(notRunning);
  const system = await startParts(dataDir, machine);
  const { lines, done } = startWaiting(dataDir, 600);
  await vi.waitFor(() => expect(lines).toHaveLength(1), 5_000);
  await system.stop();
  await expect(done).rejects.toThrow(notRunning);
  expect(lines.at(-1)).toBe('npm start has stopped: start it again within 0.6 s to continue');
});
