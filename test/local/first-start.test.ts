import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runKeys } from '../../local/keys.ts';
import { findFreePort } from '../../local/ports.ts';
import { startProgram } from '../support/program.ts';
import { TEMPORAL_START_MS, temporalProgram } from '../support/temporal.ts';
import { testWorkflowBundles } from '../support/temporal-namespace.ts';
import { createFakeMachine, fakeGoScript } from './temporal/fake-go.ts';
import { makeFolder } from './temporary-data-folder.ts';

const MERCHANT_ID = '0d4c7f0e-7a51-4a55-9d8e-2f6b1c3a9e70';
/** With a demo.json, `npm start` writes no demo data, which takes longer than everything else. */
const EMPTY_DEMO_FILE = JSON.stringify({ live: {}, sandbox: {}, other: {}, dashboard: { email: '' } });

/** Starting a process takes seconds, and much longer on a busy machine. */
const WAIT_MS = 180_000;

interface Command {
  readonly child: ChildProcess;
  /** What it has printed to stdout and stderr. */
  output(): string;
}

function runCommand(file: string, env: NodeJS.ProcessEnv, ...args: readonly string[]): Command {
  const { child } = startProgram([`local/${file}`, ...args], env);
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (text += chunk));
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  return { child, output: () => text };
}

async function settingsFor(dataDir: string): Promise<NodeJS.ProcessEnv> {
  const [temporalPort, uiPort, oidcPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  return {
    DATA_DIR: dataDir,
    // Its URLs have it in brackets.
    HOST: '::1',
    LIVE_PORT: '0',
    SANDBOX_PORT: '0',
    GRPC_PORT: '0',
    OPS_PORT: '0',
    DASHBOARD_PORT: '0',
    DEMO_RECEIVER_PORT: '0',
    TEMPORAL_PORT: String(temporalPort),
    TEMPORAL_UI_PORT: String(uiPort),
    OIDC_PORT: String(oidcPort),
    WEBHOOK_SCHEDULE_SANDBOX: '0s,1s',
  };
}

/** Gives the demo a merchant with an API key, as the demo data does. */
async function addMerchant(dataDir: string): Promise<void> {
  const tenant = ['--merchant', MERCHANT_ID, '--env', 'test'];
  const issue = ['issue', ...tenant, '--name', 'demo', '--scope', 'webhooks:manage', '--json'];
  const { stdout, stderr } = await runKeys(issue, { DATA_DIR: dataDir });
  expect(stderr).toBe('');
  const file = join(dataDir, 'demo.json');
  const demo = JSON.parse(readFileSync(file, 'utf8'));
  Object.assign(demo.sandbox, { merchantId: MERCHANT_ID, apiKey: JSON.parse(stdout).key });
  writeFileSync(file, JSON.stringify(demo));
}

/** Files of a data folder that other users of the machine could read. PostgreSQL guards its own. */
const filesOthersCanRead = (path: string) =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('postgres/'))
    .filter((name) => {
      const status = statSync(join(path, name));
      return status.isFile() && (status.mode & 0o077) !== 0;
    });

test('while the Temporal server is built, npm start says how long it takes and the demo waits', {
  timeout: TEMPORAL_START_MS,
}, async () => {
  const machine = createFakeMachine();
  onTestFinished(() => machine.remove());
  const program = await temporalProgram();
  const compile = 'echo example.com/a; echo example.com/b';
  machine.install('go', fakeGoScript(`${compile}\n${machine.waitFor('end')}\nln -s '${program}' "$out"`));
  const { path, remove } = makeFolder();
  onTestFinished(remove);
  writeFileSync(join(path, 'demo.json'), EMPTY_DEMO_FILE);
  const environment = { ...machine.environment, ...testWorkflowBundles(), ...(await settingsFor(path)) };

  const start = runCommand('start.ts', environment);
  const notice = 'building the Temporal server: once per machine, usually 3 to 10 minutes';
  await vi.waitFor(() => expect(start.output()).toContain(`workflows wait: ${notice}\n`), WAIT_MS);
  await vi.waitFor(() => expect(start.output()).toContain('\nready: Ctrl-C stops everything\n'), WAIT_MS);
  await addMerchant(path);

  const demo = runCommand('demo.ts', environment);
  await vi.waitFor(() => expect(demo.output()).toContain(` ${notice}\n`), WAIT_MS);
  await vi.waitFor(() => expect(demo.output()).toMatch(/ s {2}compiling package 2 of 3\n/), WAIT_MS);
  expect(demo.output()).not.toContain('subscribe');
  machine.signal('end');
  const [exitCode] = await once(demo.child, 'exit');
  expect(demo.output()).toMatch(/\n 6 {2}subscription disabled; done in [\d.]+ s\n$/);
  expect(exitCode).toBe(0);
  expect(filesOthersCanRead(path)).toEqual([]);

  // As when the terminal is closed.
  start.child.kill('SIGHUP');
  const [startExitCode] = await once(start.child, 'exit');
  expect(startExitCode).toBe(0);
  expect(start.output()).toMatch(/\nstopping …\n$/);
  expect(readdirSync(join(path, 'run'))).toEqual(['owner']);
});

test('npm start refuses an option that does not exist', async () => {
  // Without the refusal, the setting ends the process.
  const start = runCommand('start.ts', { LIVE_PORT: 'none' }, '--small-demo-dta');
  const [exitCode] = await once(start.child, 'exit');
  expect(start.output()).toBe("Unknown option '--small-demo-dta'\n");
  expect(exitCode).toBe(1);
});

test('npm start names the ports of a HOST that this machine does not have, and starts nothing', async () => {
  const { path, remove } = makeFolder();
  onTestFinished(remove);
  const port = await findFreePort();
  const settings = { ...(await settingsFor(path)), HOST: '192.0.2.1', OPS_PORT: String(port) };
  const start = runCommand('start.ts', settings);
  const [exitCode] = await once(start.child, 'exit');
  expect(start.output()).toBe(`OPS_PORT ${port} cannot be opened on 192.0.2.1: EADDRNOTAVAIL\n`);
  expect(exitCode).toBe(1);
});
