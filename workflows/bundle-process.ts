import { createLogger } from '../services/platform/process/telemetry.ts';
import { bundleWorkflows, ENCODES_FAILURES } from './workflow-bundle.ts';

// Runs as a separate process, because modules loaded for bundling would stay in the worker's memory.
process.once('disconnect', () => process.exit());
const { code } = await bundleWorkflows(createLogger('warn'), process.argv.includes(ENCODES_FAILURES));
process.send!(code, () => process.disconnect());
