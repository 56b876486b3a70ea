import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { bundleWorkflows } from '../../workflows/worker-session.ts';
import { startTemporal } from './temporal.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `host:port` of the Temporal server that test files share. */
    temporalAddress: string;
    /** File with the bundled workflow code. */
    workflowBundlePath: string;
  }
}

interface SharedTemporal {
  readonly address: string;
  readonly bundlePath: string;
  close(): Promise<void>;
}

/** What the projects of a run share; each of them evaluates this module separately. */
interface Shared {
  temporal?: Promise<SharedTemporal>;
  users: number;
}

declare global {
  var paymentsTestTemporal: Shared | undefined;
}

async function start(): Promise<SharedTemporal> {
  const folder = await mkdtemp(join(tmpdir(), 'payments-workflows-'));
  const bundlePath = join(folder, 'workflows.cjs');
  const [temporal, { code }] = await Promise.all([
    startTemporal({ durable: false }),
    bundleWorkflows(createLogger('fatal')),
  ]);
  await writeFile(bundlePath, code);
  return {
    address: temporal.address,
    bundlePath,
    async close() {
      await temporal[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One Temporal server and one bundle of the workflow code for all projects of the run that need them. */
export default async function setup(project: TestProject) {
  globalThis.paymentsTestTemporal ??= { users: 0 };
  const shared = globalThis.paymentsTestTemporal;
  shared.temporal ??= start();
  shared.users += 1;
  const { address, bundlePath, close } = await shared.temporal;
  project.provide('temporalAddress', address);
  project.provide('workflowBundlePath', bundlePath);
  return async () => {
    shared.users -= 1;
    if (shared.users === 0) await close();
  };
}
