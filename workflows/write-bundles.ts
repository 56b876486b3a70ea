import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '../services/platform/process/telemetry.ts';
import { bundleFile, bundleWorkflows } from './workflow-bundle.ts';

// `node workflows/write-bundles.ts <folder>`: bundles the workflow code for WORKFLOW_BUNDLE_DIR. The image is built with it.
const [folder] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node workflows/write-bundles.ts <folder>');
  process.exit(2);
}
await mkdir(folder, { recursive: true });
const logger = createLogger('warn');
for (const encodesFailures of [false, true]) {
  const { code } = await bundleWorkflows(logger, encodesFailures);
  await writeFile(join(folder, bundleFile(encodesFailures)), code);
}
