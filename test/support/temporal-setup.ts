import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { bundleFile, bundleWorkflows } from '../../workflows/workflow-bundle.ts';
import { startTemporal } from './temporal.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `host:port` of the Temporal server that test files share. */
    temporalAddress: string;
    /** Folder with the bundled workflow code. */
    workflowBundleFolder: string;
  }
}

/** One Temporal server and one bundle of the workflow code for the run. */
export async function setUpTemporal(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'payments-workflows-'));
  const [temporal, { code }] = await Promise.all([
    startTemporal({ durable: false }),
    bundleWorkflows(createLogger('fatal'), false),
  ]);
  await writeFile(join(folder, bundleFile(false)), code);
  project.provide('temporalAddress', temporal.address);
  project.provide('workflowBundleFolder', folder);
  return async () => {
    await temporal[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  };
}
